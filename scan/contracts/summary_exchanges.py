"""Recognises swaps and changes of liquidity, by the trades and by what entered and left pools."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from scan.contracts.summary_events import topic_of
from scan.contracts.summary_facts import Facts, Flows, Recognised, Record
from scan.contracts.summary_parts import (
    COIN,
    ZERO,
    Asset,
    Names,
    Part,
    asset_part,
    assets_parts,
    exchange_part,
    joined,
)
from scan.hex import to_hex

MAX_EXCHANGES = 2  # named
ADDED = frozenset(
    topic_of(event)
    for event in (
        "Mint(address,uint256,uint256)",
        "Mint(address,address,int24,int24,uint128,uint256,uint256)",
    )
)
REMOVED = frozenset(
    topic_of(event)
    for event in (
        "Burn(address,uint256,uint256,address)",
        "Burn(address,int24,int24,uint128,uint256,uint256)",
    )
)

Given = tuple[Asset, int]


def swapped(facts: Facts, names: Names) -> Recognised | None:
    """Return what the sender gave and got net; else what all trades together took and returned."""
    if not facts.trades:
        return None
    if not facts.is_complete or facts.trade_count != len(facts.trades):
        return None
    if not all(map(_backed(facts.transfers), facts.trades)):
        return None
    exchanges = _exchanges(facts.trades, names)
    net: Flows = defaultdict(int)
    for trade in facts.trades:
        net[Asset(trade["tokenIn"])] -= int(trade["amountIn"])
        net[Asset(trade["tokenOut"])] += int(trade["amountOut"])
    traded = {asset: value for asset, value in net.items() if value}
    own = facts.flows()
    if not _within(own, facts.trades):
        return None
    pair = _pair(own, facts, names) or _pair(traded, facts, names)
    if pair is None:
        count = len(facts.trades)
        trades = [Part("1 trade" if count == 1 else f"{count:,} trades")]
        return Recognised("trades", {"trades": trades, "exchanges": exchanges})
    (given, paid), (got, received) = pair
    values = {
        "given": [asset_part(names, given, paid)],
        "got": [asset_part(names, got, received)],
        "exchanges": exchanges,
    }
    return Recognised("swap", values, given == COIN)


def _backed(transfers: Sequence[Record]) -> Callable[[Record], bool]:
    """Whether a trade's tokens went into its pool and out of it: a contract can emit any event."""
    into = {(transfer["toAddress"], transfer["tokenAddress"]) for transfer in transfers}
    out_of = {(transfer["fromAddress"], transfer["tokenAddress"]) for transfer in transfers}
    return lambda trade: (
        (trade["pairAddress"], trade["tokenIn"]) in into
        and (trade["pairAddress"], trade["tokenOut"]) in out_of
    )


def _within(flows: Flows, trades: Sequence[Record]) -> bool:
    """Return whether these are tokens of the trades, or the coin."""
    tokens = {trade[key] for trade in trades for key in ("tokenIn", "tokenOut")}
    return all(asset == COIN or asset.address in tokens for asset in flows)


def _pair(flows: Flows, facts: Facts, names: Names) -> tuple[Given, Given] | None:
    """Return ((asset, amount) given, (asset, amount) got), if it is one of each."""
    given = [(asset, -value) for asset, value in flows.items() if value < 0]
    got = [(asset, value) for asset, value in flows.items() if value > 0]
    if len(given) != 1 or len(got) != 1:
        return None
    [(asset, value)] = given
    if asset == COIN and facts.internal is None and not _is_wrapped(facts, names, value):
        return None  # a part may have been sent back
    wraps = names.token(str(asset.address)).get("wraps") and _is_wrapped(facts, names, value)
    return (COIN, value) if wraps and value == facts.value else given[0], got[0]


def _is_wrapped(facts: Facts, names: Names, value: int) -> bool:
    """Return whether that amount of the coin became a token that wraps it."""
    return any(
        transfer["fromAddress"] == ZERO
        and int(transfer["value"]) == value
        and names.token(transfer["tokenAddress"]).get("wraps")
        for transfer in facts.transfers
    )


def _exchanges(trades: Sequence[Record], names: Names) -> list[Part]:
    """Return the exchanges, each with the pool of its first trade."""
    pools: dict[str, str] = {}
    for trade in trades:
        pools.setdefault(trade["dex"] or "", trade["pairAddress"])
    shown = [exchange_part(dex, pool) for dex, pool in [*pools.items()][:MAX_EXCHANGES]]
    more = len(pools) - len(shown)
    return joined([*shown, Part(f"{more:,} more")] if more else shown)


def provided(facts: Facts, names: Names) -> Recognised | None:
    """What went into an indexed pool, or out of it, where it says that its liquidity changed."""
    if facts.trades or not facts.is_complete:
        return None
    pools: dict[str, bool] = {}
    for log in facts.details.logs or ():
        address = to_hex(log.log.address)
        topic = log.log.topics[0] if log.log.topics else None
        if names.of(address).get("pool") and (topic in ADDED or topic in REMOVED):
            is_added = topic in ADDED
            if pools.setdefault(address, is_added) != is_added:
                return None
    if len(pools) != 1:
        return None
    [(address, is_added)] = pools.items()
    pool = names.of(address)["pool"]
    sign = 1 if is_added else -1
    moved = [
        (Asset(token), sign * _net_of(facts.transfers, address, token))
        for token in (pool["token0"], pool["token1"])
    ]
    moved = [(asset, value) for asset, value in moved if value]
    if not moved or any(value < 0 for _, value in moved):
        return None
    shown = assets_parts(names, moved)
    values = {"given": shown, "got": shown, "exchanges": [exchange_part(pool["dex"], address)]}
    return Recognised("liquidity-added" if is_added else "liquidity-removed", values)


def _net_of(transfers: Sequence[Record], holder: str, token: str) -> int:
    own = [transfer for transfer in transfers if transfer["tokenAddress"] == token]
    into = sum(int(transfer["value"]) for transfer in own if transfer["toAddress"] == holder)
    return into - sum(
        int(transfer["value"]) for transfer in own if transfer["fromAddress"] == holder
    )
