"""Pools of exchanges, their candles and volumes."""

from scan.api.openapi.schemas import (
    ADDRESS,
    LISTED,
    RANGE,
    TOKEN_EXAMPLE,
    Json,
    address,
    array,
    flag,
    hash32,
    moment,
    nullable,
    number,
    one_of,
    operation,
    page_of,
    query,
    record,
    ref,
    shared,
    text,
)
from scan.extensions.markets.queries import DEFAULT_CANDLES, INTERVALS_S, MAX_CANDLES, MAX_TRADES

PATHS: Json = {
    "/pools": operation(
        "get", "listPools", "Pools of exchanges by number of trades", ref("PoolPage"),
        parameters=(
            *LISTED, shared("orderBy"), shared("filter-dex"), shared("filter-tokenAddress")
        ),
    ),
    "/pools/{address}": operation(
        "get", "getPool", "One pool", ref("Pool"), parameters=(ADDRESS,), errors=(404,)
    ),
    "/pools/{address}/candles": operation(
        "get", "listCandles", "Prices and volumes of a pool, from its trades", ref("Candles"),
        description="The newest ones of the range, whole, also where it begins or ends within"
        " one; intervals without trades are left out. To go on, send nextTimeTo as timeTo."
        f" 5m reads at most {MAX_TRADES:,} trades at once; longer ones have no such bound once"
        " all trades are counted.",
        parameters=(
            ADDRESS,
            query("interval", {**one_of("Their length.", [*INTERVALS_S]), "default": "1h"}),
            query("limit", {**number("How many at most.", DEFAULT_CANDLES), "minimum": 1,
                            "maximum": MAX_CANDLES, "default": DEFAULT_CANDLES}),
            *RANGE[2:],
        ),
        errors=(404,),
    ),
    "/pools/{address}/volume": operation(
        "get", "getPoolVolume", "What was traded in a pool", ref("PoolVolume"),
        description="24h and 7d: the hour of the newest block, and the 23 or 167 before it.",
        parameters=(ADDRESS,), errors=(404,),
    ),
}  # fmt: skip
SCHEMAS: Json = {
    "PoolPage": page_of("pools", "Pool", "Pools.", "QueryTotal"),
    "Pool": record(
        "A pool of two tokens.",
        {
            "address": address("The pool."),
            "dex": text("The exchange.", "uniswap-v2"),
            "token0": address("A token.", TOKEN_EXAMPLE),
            "token0Symbol": ref("Symbol"),
            "token0Decimals": ref("Decimals"),
            "token1": address("The other token."),
            "token1Symbol": ref("Symbol"),
            "token1Decimals": ref("Decimals"),
            "tradeCount": number("Its trades.", 3),
            "lastTradeHash": nullable(hash32("The newest trade's transaction.")),
            "lastTradeAt": nullable(moment("Its time.")),
            "volume0": ref("Sum"),
            "volume1": ref("Sum"),
        },
    ),
    "Candles": record(
        "Intervals with trades.",
        {
            "interval": one_of("Their length.", [*INTERVALS_S]),
            "nextTimeTo": nullable(
                number("Where the range may have older ones, up to here (Unix).", 1_767_225_599)
            ),
            "candles": array(ref("Candle"), "Oldest first.", maxItems=MAX_CANDLES),
        },
    ),
    "Candle": record(
        "An interval. Prices are token1 for one token0 by their decimals, with at least 16"
        " digits; null where every trade has an amount of 0.",
        {
            "time": moment("Its begin."),
            **{name: ref("Price") for name in ("open", "high", "low", "close")},
            "volume0": {**ref("Sum"), "description": "Of token0, in its smallest unit."},
            "volume1": {**ref("Sum"), "description": "Of token1."},
            "trades": number("Its trades.", 3),
        },
    ),
    "PoolVolume": record(
        "In the tokens' smallest units.",
        {
            "address": address("The pool."),
            "complete": flag("Always true."),
            "volumes": array(ref("VolumeSpan"), "24h, 7d, all."),
        },
    ),
    "VolumeSpan": record(
        "What was traded in a span of time.",
        {
            "period": one_of("Which.", ["24h", "7d", "all"]),
            "timeFrom": nullable(moment("Its begin; null of all.")),
            "volume0": ref("Sum"),
            "volume1": ref("Sum"),
            "trades": ref("Count"),
        },
    ),
    "Sum": text("A whole number, of any size.", "1500", pattern="^[0-9]+$"),
    "Price": nullable(text("A decimal number.", "1.5", pattern="^[0-9]+([.][0-9]+)?$")),
}
