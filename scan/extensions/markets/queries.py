"""Pools of exchanges: their list by trades, volumes and candles; and a pool now, with what it holds
by the index, its price and fee by the node."""

import json
from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple, TypedDict

from scan import parameters
from scan.errors import InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import client, served_chain, token_metadata
from scan.hex import BadHex, data, to_hex
from scan.queries import balances, filter_values, list_pages
from scan.queries.cursors import ORDINAL, POOL
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

HOUR_S = 3_600
# Candles of whole hours are made of stored ones, the others of the pool's trades.
INTERVALS_S = {"5m": 300, "1h": HOUR_S, "4h": 4 * HOUR_S, "1d": 24 * HOUR_S}
MAX_CANDLES = 500
DEFAULT_CANDLES = 100
MAX_TRADES = 20_000


class CandleBounds:
    """The bound of one request."""

    trades = MAX_TRADES


UNKNOWN = "No pool is indexed at this address."
NEWEST_S = 10**12  # beyond the time of every block


class Candles(NamedTuple):
    """`data` is a JSON array as text; the range may have older candles up to the time `next_s`."""

    data: str
    next_s: int | None


class PoolFilters(TypedDict, total=False):
    """Filters of pools: an exchange, and a token on either side."""

    dex: str
    token: bytes


def read_filters(arguments: Mapping[str, str]) -> PoolFilters:
    """Return the filters of a query string; raises InvalidParameter."""
    filters: PoolFilters = {}
    if "dex" in arguments:
        filters["dex"] = parameters.text(arguments["dex"], "dex", most=filter_values.MAX_DEX_NAME)
    if "tokenAddress" in arguments:
        filters["token"] = parameters.address(arguments["tokenAddress"], "tokenAddress")
    return filters


def page(
    reader: Reader, window: Window, *, dex: str | None = None, token: bytes | None = None
) -> Page:
    """Return pools by the number of trades; of an exchange, or with a token on either side."""
    filters = {"dex": dex, "token": token}
    traversal = window.traversal("pools", filters, (ORDINAL, POOL), has_blocks=False)
    after_count, after_address = traversal.position(2)
    row = reader.row(
        "queries/pools_list",
        is_unbounded=True,
        dex=dex,
        token=token,
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
        after_count=after_count,
        after_address=after_address,
    )
    return Page.keyed(traversal, row)


def get(reader: Reader, address: bytes) -> str:
    """Return a pool as JSON text; raises NotFound."""
    return _read(reader, "queries/pools_get", address)


def volume(reader: Reader, address: bytes) -> str:
    """Return a pool's volumes in its newest hours and days and in all as JSON; raises NotFound."""
    return _read(reader, "queries/pool_volumes_get", address)


def _read(reader: Reader, statement: str, address: bytes) -> str:
    data: str | None
    (data,) = reader.row(statement, address=address)
    if data is None:
        raise NotFound(UNKNOWN)
    return data


def candles(
    reader: Reader,
    address: bytes,
    interval: str,
    first_s: int | None = None,
    last_s: int | None = None,
    limit: int = DEFAULT_CANDLES,
) -> Candles:
    """Return the newest `limit` candles of a range; raises NotFound, and InvalidParameter for a
    range that is backwards or whose newest candle would be made of too many trades."""
    span_s = INTERVALS_S[interval]
    if first_s is not None and last_s is not None and first_s > last_s:
        raise InvalidParameter("timeFrom must not be after timeTo.", field="timeFrom")
    first_start_s = 0 if first_s is None else first_s // span_s * span_s
    if span_s % HOUR_S == 0:
        data, next_s = reader.row(
            "queries/pool_candles_list_by_hour",
            address=address,
            span_s=span_s,
            first_s=first_start_s,
            last_s=NEWEST_S if last_s is None else last_s // span_s * span_s + span_s - 1,
            limit=limit,
        )
        if data == "[]":
            get(reader, address)
        return Candles(data, next_s)
    return _from_trades(reader, address, span_s, first_start_s, last_s, limit)


def _from_trades(
    reader: Reader, address: bytes, span_s: int, first_start_s: int, last_s: int | None, limit: int
) -> Candles:
    """Return candles made of at most MAX_TRADES trades."""
    most = reader.sources.get(CandleBounds).trades
    newest = json.loads(get(reader, address))["lastTradeAt"]
    if newest is None:
        return Candles("[]", None)
    newest_s = parameters.unix_seconds(newest)
    last_start_s = (newest_s if last_s is None else min(last_s, newest_s)) // span_s * span_s
    spans = min(limit, (last_start_s - first_start_s) // span_s + 1)
    while spans > 0:
        start_s = max(first_start_s, last_start_s - (spans - 1) * span_s)
        end_s = last_start_s + span_s - 1
        window = Window(1, 0, time_from=start_s, time_to=end_s)
        window = list_pages.in_kept_blocks(reader, window, address)
        count, data = reader.row(
            "queries/pool_candles_list_by_block",
            address=address,
            span_s=span_s,
            block_from=window.block_from,
            block_to=window.block_to,
            max_trades=most,
        )
        if count <= most:
            return Candles(data, start_s - 1 if start_s > first_start_s else None)
        if spans == 1:
            message = f"The newest interval has {count:,} trades, more than {most:,}"
            raise InvalidParameter(f"{message}; choose a shorter one.", field="interval")
        spans = (spans + 3) // 4
    return Candles("[]", None)


GET_RESERVES, SLOT0 = "0x0902f1ac", "0x3850c7bd"
GAS = 200_000  # of each call
TIMEOUT_S = 3.0
MAX_RESPONSE_BYTES = 16 * 1024
SQRT_PRICE_BITS = 160
FEE_BITS = 24
# Of exchanges whose pairs have one fee, in millionths; their contracts have no function for it.
FEES = {"uniswap-v2": 3000, "sushiswap-v2": 3000, "pancakeswap-v2": 2500}
PRICE_DIGITS = Context(prec=40)


def state(reader: Reader, address: bytes) -> dict[str, Any]:
    """Return a pool's state at the newest block; what the node does not say is null, and so is a
    reserve that transfers do not tell. Raises NotFound."""
    dex, token0, token1, *reserves, decimals0, decimals1, number, hash_ = (
        reader.row("queries/pool_state_get", address=address) or (None,) * 9
    )
    if dex is None:
        raise NotFound(UNKNOWN)
    block = served_chain.BlockId(number, bytes(hash_))
    contract, id_ = address[:20], address[20:]
    price, fee = (None, None) if id_ else _of_node(reader, address, dex, block)
    held: list[dict[str, Any]] = [
        {"tokenAddress": to_hex(bytes(token)), "balance": str(reserve)}
        for token, reserve in zip((token0, token1), reserves, strict=True)
    ]
    if not id_:
        balances.correct(reader, held, holder=address, block=block)
    indexed_reserves = [
        None if id_ or {"inconsistentSince", "balancesSince"} & record.keys() else record["balance"]
        for record in held
    ]
    return {
        "address": to_hex(contract),
        "poolId": to_hex(id_) if id_ else None,
        "blockNumber": number,
        "reserve0": indexed_reserves[0],
        "reserve1": indexed_reserves[1],
        "price": None if price is None else f"{_scaled(price, decimals0 - decimals1):f}",
        "fee": fee,
        "unproven": [
            *(("price",) if dex in FEES else ("price", "fee")),
            *(f"reserve{n}" for n, record in enumerate(held) if "balanceBlock" in record),
        ],
    }


def _of_node(
    reader: Reader, address: bytes, dex: str, head: served_chain.BlockId
) -> tuple[Decimal | None, int | None]:
    """Return the price of token0's smallest unit in that of token1, and the fee in millionths."""
    calldatas = (GET_RESERVES,) if _is_v2(dex) else (SLOT0, token_metadata.FEE)
    calls = [
        client.Call("eth_call", ({"to": to_hex(address), "data": calldata, "gas": hex(GAS)}, head))
        for calldata in calldatas
    ]
    try:
        results = reader.node.within(TIMEOUT_S).results(calls, MAX_RESPONSE_BYTES)
    except (UpstreamFailed, Unavailable):
        return None, FEES.get(dex)
    words, *others = map(_words, results)
    if _is_v2(dex):
        return _ratio(words), FEES.get(dex)
    [fee] = others
    return _squared(words), fee[0] if fee and fee[0] < 1 << FEE_BITS else None


def _is_v2(dex: str) -> bool:
    return dex.partition("-0x")[0].removesuffix("-unconfirmed").endswith("v2")


def _words(result: object) -> list[int]:
    """Return the first two words that a call returned; none where it failed or returned less."""
    try:
        words = data(result)
    except BadHex:
        return []
    return [int.from_bytes(words[n : n + 32]) for n in range(0, min(len(words), 64) // 32 * 32, 32)]


def _ratio(reserves: list[int]) -> Decimal | None:
    if len(reserves) < 2 or not all(reserves):
        return None
    return PRICE_DIGITS.divide(Decimal(reserves[1]), Decimal(reserves[0]))


def _squared(slot0: list[int]) -> Decimal | None:
    """Return the price by its square root with 96 bits after the point (sqrtPriceX96)."""
    if not slot0 or not 0 < slot0[0] < 1 << SQRT_PRICE_BITS:
        return None
    root = PRICE_DIGITS.divide(Decimal(slot0[0]), Decimal(1 << 96))
    return PRICE_DIGITS.multiply(root, root)


def _scaled(price: Decimal, places: int) -> Decimal:
    """Return the price of one token in the other; not with zeros that follow from rounding."""
    return PRICE_DIGITS.normalize(PRICE_DIGITS.scaleb(price, places))
