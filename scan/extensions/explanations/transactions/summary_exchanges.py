"""Exchanges in a transaction's sentence: swaps and changes of liquidity, recognised by trades and
by transfers into and out of pools, and its end: what else the sender gave and got, and the
approvals that it left.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from scan.extensions.explanations.transactions.summary_facts import (
    Facts,
    Flows,
    Recognised,
    Record,
    address_of,
    topic_of,
    words_of,
)
from scan.extensions.explanations.transactions.summary_parts import (
    COIN,
    ZERO,
    Asset,
    Names,
    Part,
    address_part,
    asset_part,
    assets_parts,
    collection_part,
    exchange_part,
    joined,
    recipients_parts,
    token_part,
)
from scan.hex import to_hex
from scan.pages.formatting import UNLIMITED

APPROVAL = topic_of("Approval(address,address,uint256)")
APPROVAL_FOR_ALL = topic_of("ApprovalForAll(address,address,bool)")
# Permit2 has this address on all chains. What an owner lets Permit2 spend, its own approvals let
# others spend.
PERMIT2 = bytes.fromhex("000000000022d473030f116ddee9f6b43ac78ba3")
PERMIT2_APPROVALS = (
    topic_of("Approval(address,address,address,uint160,uint48)"),
    topic_of("Permit(address,address,address,uint160,uint48,uint48)"),
)
MAX_APPROVALS = 2  # named in a sentence


class Approval(NamedTuple):
    """An approval by the sender: of an amount, of the item `token_id`, or of all items, where
    `amount` is None. `may_be_spent`: the sender's tokens moved after it, so a part may be spent."""

    token: str
    spender: str
    amount: int | None
    token_id: str | None = None
    may_be_spent: bool = False


def movements(facts: Facts, names: Names, stated: Mapping[Asset, int]) -> list[Part]:
    """Return the end of the sentence that names what the sender gave and got beyond `stated`."""
    flows = facts.flows()
    if not facts.is_complete:
        flows = {asset: value for asset, value in flows.items() if asset == COIN}
    rest = {asset: flows.get(asset, 0) - stated.get(asset, 0) for asset in {**flows, **stated}}
    sent = [(asset, -value) for asset, value in rest.items() if value < 0]
    got = [(asset, value) for asset, value in rest.items() if value > 0]
    parts: list[Part] = []
    if sent:
        parts += [Part(", sent "), *assets_parts(names, sent)]
    if got:
        parts += [Part(", received "), *assets_parts(names, got)]
    if not facts.is_complete:
        parts.append(Part(f", with {facts.transfer_count:,} token transfers"))
    if facts.internal is None and facts.internal_count:
        text = f", with {facts.internal_count:,} transfers of {names.coin} by contracts"
        parts.append(Part(text))
    return parts


def clipped(flow: int, amount: int) -> int:
    """Return the part of an amount that the sender's own flow covers; 0 if the signs differ."""
    if (flow < 0) != (amount < 0):
        return 0
    return max(flow, amount) if flow < 0 else min(flow, amount)


def approvals_left(facts: Facts, names: Names) -> list[Part]:
    """Return the end of the sentence that names who may spend the sender's tokens from now on."""
    left = approvals(facts)
    if not left:
        return []
    more = len(left) - MAX_APPROVALS
    parts = [Part(", leaving ")]
    for index, approval in enumerate(left[:MAX_APPROVALS]):
        parts += [*([Part(" and ")] if index else []), *_approval(names, approval)]
    return [*parts, *([Part(f" and {more:,} more approvals")] if more > 0 else [])]


def _approval(names: Names, approval: Approval) -> list[Part]:
    spender, token = address_part(names, approval.spender), approval.token
    if approval.amount is None:
        return [spender, Part(" approved to transfer all items of "), collection_part(names, token)]
    if approval.token_id is not None:
        item = asset_part(names, Asset(token, approval.token_id), 1)
        return [spender, Part(" approved to transfer "), item]
    if approval.amount >= UNLIMITED:
        return [spender, Part(" approved to spend unlimited "), token_part(names, token)]
    amount = asset_part(names, Asset(token), approval.amount)
    most = "up to " if approval.may_be_spent else ""
    return [spender, Part(f" approved to spend {most}"), amount]


def approvals(facts: Facts) -> list[Approval]:
    """Return the sender's approvals that hold after the transaction, by the events of tokens and of
    Permit2: the last one for each spender, without items that were sent away after it."""
    left: dict[tuple[str, str], Approval] = {}
    moved = {(x["tokenAddress"], x["tokenId"]): x["logIndex"] for x in facts.transfers}
    sent = {
        transfer["tokenAddress"]: transfer["logIndex"]
        for transfer in sorted(facts.transfers, key=itemgetter("logIndex"))
        if transfer["fromAddress"] == facts.sender
    }
    for log in facts.details.logs or ():
        if log.address == PERMIT2 and log.topics and log.topics[0] in PERMIT2_APPROVALS:
            if (permitted := _permit2_approval(words_of(log), facts.sender)) is not None:
                is_before = log.log_index < sent.get(permitted.token, -1)
                key = permitted.token, f"{permitted.spender} by Permit2"
                left[key] = permitted._replace(may_be_spent=is_before)
            continue
        if not log.topics or log.topics[0] not in (APPROVAL, APPROVAL_FOR_ALL):
            continue
        words = words_of(log)
        if len(words) != 3 or address_of(words[0]) != facts.sender:
            continue
        token, spender, number = to_hex(log.address), address_of(words[1]), int.from_bytes(words[2])
        if spender is None:
            continue
        is_item = log.topics[0] == APPROVAL and len(log.topics) == 4
        key = (token, str(number) if is_item else spender)
        left.pop(key, None)
        if is_item:
            is_left = int(spender, 16) and moved.get(key, -1) < log.log_index
            approval = Approval(token, spender, 1, str(number))
        else:
            is_left = number
            amount = number if log.topics[0] == APPROVAL else None
            is_before = log.log_index < sent.get(token, -1)
            approval = Approval(token, spender, amount, may_be_spent=is_before)
        if is_left:
            left[key] = approval
    return [approval for approval in left.values() if approval.amount != 0]


def _permit2_approval(words: Sequence[bytes], sender: str) -> Approval | None:
    """Return the sender's approval in an event of Permit2, whose largest amount, 2**160 - 1, is
    unlimited; None where it is another owner's."""
    owner, token, spender = map(address_of, words[:3])
    if owner != sender or token is None or spender is None or len(words) < 5:
        return None
    amount = int.from_bytes(words[3])
    return Approval(token, spender, UNLIMITED if amount == 2**160 - 1 else amount)


MAX_EXCHANGES = 2  # named in a sentence
ADDED = (
    topic_of("Mint(address,uint256,uint256)"),
    topic_of("Mint(address,address,int24,int24,uint128,uint256,uint256)"),
)
REMOVED = (
    topic_of("Burn(address,uint256,uint256,address)"),
    topic_of("Burn(address,int24,int24,uint128,uint256,uint256)"),
)

Given = tuple[Asset, int]


def swapped(facts: Facts, names: Names) -> Recognised | None:
    """Recognise a swap by the net amounts that the sender gave and got, or else by what all trades
    together took and returned. Return None without trades, or where no transfers back one: then
    only its contract claims it."""
    if not facts.trades or not facts.is_complete or facts.trade_count != len(facts.trades):
        return None
    if not all(trade["backedByTransfers"] for trade in facts.trades):
        return None
    flows = facts.flows()
    tokens = {trade[key] for trade in facts.trades for key in ("tokenIn", "tokenOut")}
    if any(asset != COIN and asset.address not in tokens for asset in flows):
        return None
    exchanges = _exchanges(facts.trades, names)
    pair = _pair(flows, facts, names)
    if pair is not None:
        (given, paid), (got, received) = pair
        values = {
            "given": [asset_part(names, given, paid)],
            "got": [asset_part(names, got, received)],
            "exchanges": exchanges,
        }
        return Recognised(
            "swap", values, has_value=given == COIN, stated={given: -paid, got: received}
        )
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
    flows, [payer] = facts.flows(), payers
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
    stated = {given: clipped(flows.get(given, 0), -paid), got: clipped(flows.get(got, 0), received)}
    return Recognised(form, values, has_value=given == COIN, stated=stated)


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
    parts = [exchange_part(dex, pool) for dex, pool in [*pools.items()][:MAX_EXCHANGES]]
    more = len(pools) - len(parts)
    return joined([*parts, Part(f"{more:,} more")] if more else parts)


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
    parts = assets_parts(names, moved)
    flows = facts.flows()
    stated = {asset: clipped(flows.get(asset, 0), -sign * value) for asset, value in moved}
    shares = Asset(address)  # tokens of the pool itself
    if is_added:
        recipients = _owners_of_shares(facts, pool) - {address}
        is_for_others = bool(recipients) and facts.sender not in recipients
        stated[shares] = flows.get(shares, 0) if recipients == {facts.sender} else 0
    else:
        recipients = set().union(*(_parties(facts, names, asset, 1) for asset, _ in moved))
        is_for_others = bool(recipients) and recipients != {facts.sender}
        stated[shares] = flows.get(shares, 0)
    values = {
        "given": parts,
        "got": parts,
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
    return sum(
        int(transfer["value"])
        * ((transfer["toAddress"] == holder) - (transfer["fromAddress"] == holder))
        for transfer in transfers
        if transfer["tokenAddress"] == token
    )
