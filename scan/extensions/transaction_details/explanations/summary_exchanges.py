"""Swaps and changes of liquidity, recognised by trades and by transfers into and out of pools."""

from collections import defaultdict
from collections.abc import Sequence

from scan.extensions.transaction_details.explanations.summary_events import topic_of
from scan.extensions.transaction_details.explanations.summary_facts import (
    Facts,
    Flows,
    Recognised,
    Record,
)
from scan.extensions.transaction_details.explanations.summary_movements import clipped
from scan.extensions.transaction_details.explanations.summary_parts import (
    COIN,
    ZERO,
    Asset,
    Names,
    Part,
    address_part,
    asset_part,
    assets_parts,
    exchange_part,
    joined,
    recipients_parts,
)
from scan.hex import to_hex

MAX_EXCHANGES = 2  # named in a sentence
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
    """Recognise a swap by the net amounts that the sender gave and got, or else by what all trades
    together took and returned. Return None without trades, or where no transfers back one: then
    only its contract claims it."""
    if not facts.trades:
        return None
    if not facts.is_complete or facts.trade_count != len(facts.trades):
        return None
    if not all(trade["backedByTransfers"] for trade in facts.trades):
        return None
    own = facts.flows()
    if not _within(own, facts.trades):
        return None
    exchanges = _exchanges(facts.trades, names)
    pair = _pair(own, facts, names)
    if pair is not None:
        (given, paid), (got, received) = pair
        values = {
            "given": [asset_part(names, given, paid)],
            "got": [asset_part(names, got, received)],
            "exchanges": exchanges,
        }
        return Recognised("swap", values, given == COIN, {given: -paid, got: received})
    count = "1 trade" if len(facts.trades) == 1 else f"{len(facts.trades):,} trades"
    trades = Recognised("trades", {"trades": [Part(count)], "exchanges": exchanges})
    return _swapped_for_another(facts, names, exchanges) or trades


def _swapped_for_another(facts: Facts, names: Names, exchanges: list[Part]) -> Recognised | None:
    """Recognise trades that together took one asset and returned another one, for which the sender
    was not the only payer and recipient."""
    traded: Flows = defaultdict(int)
    for trade in facts.trades:
        traded[Asset(trade["tokenIn"])] -= int(trade["amountIn"])
        traded[Asset(trade["tokenOut"])] += int(trade["amountOut"])
    pair = _pair({asset: value for asset, value in traded.items() if value}, facts, names)
    if pair is None:
        return None
    (given, paid), (got, received) = pair
    payers = _parties(facts, names, given, -1)
    if len(payers) != 1:
        return None
    own, [payer] = facts.flows(), payers
    of = [] if payer == facts.sender else [Part(" of "), address_part(names, payer)]
    recipients = _parties(facts, names, got, 1)
    unknown = [Part("an address that is not known")]
    values = {
        "given": [asset_part(names, given, paid), *of],
        "got": [asset_part(names, got, received)],
        "exchanges": exchanges,
        "recipient": recipients_parts(names, recipients) if recipients else unknown,
    }
    form = "swap" if recipients == {facts.sender} else "swap-for"
    stated = {
        given: clipped(own.get(given, 0), -paid),
        got: clipped(own.get(got, 0), received),
    }
    return Recognised(form, values, given == COIN, stated)


def _parties(facts: Facts, names: Names, asset: Asset, sign: int) -> set[str]:
    """Return the addresses besides pools that gave (sign -1) or got (sign 1) an asset; of a wrapped
    coin, those that gave or got the coin itself, if none moved the token."""
    pools = {trade["pairAddress"] for trade in facts.trades}
    flows = facts.flows_of_all()

    def moved(asset: Asset) -> set[str]:
        others = flows.keys() - pools - {ZERO}
        return {address for address in others if sign * flows[address].get(asset, 0) > 0}

    wrapping = str(asset.address)
    if asset != COIN and names.token(wrapping).get("wraps") and not moved(asset):
        # Without traces it is unknown where the coin went.
        return set() if sign > 0 and facts.internal is None else moved(COIN) - {wrapping}
    return moved(asset)


def _within(flows: Flows, trades: Sequence[Record]) -> bool:
    """Return whether all assets of the flows are tokens of the trades, or the coin."""
    tokens = {trade[key] for trade in trades for key in ("tokenIn", "tokenOut")}
    return all(asset == COIN or asset.address in tokens for asset in flows)


def _pair(flows: Flows, facts: Facts, names: Names) -> tuple[Given, Given] | None:
    """Return (asset, amount) given and (asset, amount) got; None unless there is one of each."""
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
    """Return whether exactly this amount of the coin was wrapped."""
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
    """Recognise liquidity added to the one indexed pool that emitted Mint, or removed from the one
    that emitted Burn, by the transfers into it or out of it."""
    if facts.trades or not facts.is_complete:
        return None
    pools: dict[str, bool] = {}
    for log in facts.details.logs or ():
        address = to_hex(log.address)
        topic = log.topics[0] if log.topics else None
        if (topic in ADDED or topic in REMOVED) and names.of(address).get("pool"):
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
    own = facts.flows()
    stated = {asset: clipped(own.get(asset, 0), -sign * value) for asset, value in moved}
    shares = Asset(address)  # tokens of the pool itself
    if is_added:
        recipients = _owners_of_shares(facts, pool) - {address}
        is_for_others = bool(recipients) and facts.sender not in recipients
        stated[shares] = own.get(shares, 0) if recipients == {facts.sender} else 0
    else:
        recipients = set().union(*(_parties(facts, names, asset, 1) for asset, _ in moved))
        is_for_others = bool(recipients) and recipients != {facts.sender}
        stated[shares] = own.get(shares, 0)
    values = {
        "given": shown,
        "got": shown,
        "exchanges": [exchange_part(pool["dex"], address)],
        "recipient": recipients_parts(names, recipients),
    }
    form = "liquidity-added" if is_added else "liquidity-removed"
    return Recognised(f"{form}-for" if is_for_others else form, values, stated=stated)


def _owners_of_shares(facts: Facts, pool: Record) -> set[str]:
    """Return the addresses that got tokens minted for liquidity: the pool's shares, or an item."""
    shares = {
        Asset(transfer["tokenAddress"], transfer["tokenId"])
        for transfer in facts.transfers
        if transfer["fromAddress"] == ZERO
        and transfer["tokenAddress"] not in (pool["token0"], pool["token1"])
    }
    return {
        address
        for address, flows in facts.flows_of_all().items()
        if address != ZERO and any(flows.get(asset, 0) > 0 for asset in shares)
    }


def _net_of(transfers: Sequence[Record], holder: str, token: str) -> int:
    own = [transfer for transfer in transfers if transfer["tokenAddress"] == token]
    into = sum(int(transfer["value"]) for transfer in own if transfer["toAddress"] == holder)
    return into - sum(
        int(transfer["value"]) for transfer in own if transfer["fromAddress"] == holder
    )
