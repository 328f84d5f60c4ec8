"""The end of a sentence: what else the sender gave and got, and the approvals that it left."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from scan.extensions.transaction_details.explanations.summary_events import (
    UNLIMITED,
    address_of,
    topic_of,
    words_of,
)
from scan.extensions.transaction_details.explanations.summary_facts import Facts
from scan.extensions.transaction_details.explanations.summary_parts import (
    COIN,
    Asset,
    Names,
    Part,
    address_part,
    asset_part,
    assets_parts,
    collection_part,
    token_part,
)
from scan.hex import to_hex

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
    flows = facts.flows() if facts.is_complete else _flows_of_coin(facts)
    rest = {asset: flows.get(asset, 0) - stated.get(asset, 0) for asset in {**flows, **stated}}
    given = [(asset, -value) for asset, value in rest.items() if value < 0]
    got = [(asset, value) for asset, value in rest.items() if value > 0]
    parts: list[Part] = []
    if given:
        parts += [Part(", sent "), *assets_parts(names, given)]
    if got:
        parts += [Part(", received "), *assets_parts(names, got)]
    if not facts.is_complete:
        parts.append(Part(f", with {facts.transfer_count:,} token transfers"))
    if facts.internal is None and facts.internal_count:
        text = f", with {facts.internal_count:,} transfers of {names.coin} by contracts"
        parts.append(Part(text))
    return parts


def _flows_of_coin(facts: Facts) -> Mapping[Asset, int]:
    return {asset: value for asset, value in facts.flows().items() if asset == COIN}


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
    for number, approval in enumerate(left[:MAX_APPROVALS]):
        parts += [*([Part(" and ")] if number else []), *_approval(names, approval)]
    return [*parts, *([Part(f" and {more:,} more approvals")] if more > 0 else [])]


def _approval(names: Names, approval: Approval) -> list[Part]:
    spender, token = address_part(names, approval.spender), approval.token
    if approval.amount is None:
        items = Part(" approved to transfer all items of ")
        return [spender, items, collection_part(names, token)]
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
            approval = _by_permit2(words_of(log), facts.sender)
            if approval is not None:
                is_before = log.log_index < sent.get(approval.token, -1)
                approval = approval._replace(may_be_spent=is_before)
                left[approval.token, f"{approval.spender} by Permit2"] = approval
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


def _by_permit2(words: Sequence[bytes], sender: str) -> Approval | None:
    """Return the sender's approval in an event of Permit2, whose largest amount, 2**160 - 1, is
    unlimited; None where it is another owner's."""
    owner, token, spender = map(address_of, words[:3])
    if owner != sender or token is None or spender is None or len(words) < 5:
        return None
    amount = int.from_bytes(words[3])
    return Approval(token, spender, UNLIMITED if amount == 2**160 - 1 else amount)
