"""Transfers and approvals in the calls of a simulation. Pure.

A transfer of coin is that of a call, or, where only logs are known, a log that eth_simulateV1 adds.
The protocol's own logs of coin (EIP-7708) repeat these.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from scan.ethereum import blocks, stored_blocks
from scan.ethereum.events import (
    WITH_AMOUNTS,
    WRAPPING,
    TransferEvent,
    TransferShape,
    item_by_item,
    transfer_event,
    transfers,
)
from scan.extensions.explanations.transactions.summary_exchanges import APPROVAL, APPROVAL_FOR_ALL
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import TraceFrame
from scan.hex import to_hex

SIMULATED_COIN = bytes.fromhex("ee" * 20)  # the emitter in eth_simulateV1 (ERC-7528)
MOVING = ("CALL", "SELFDESTRUCT")
# The type of a token that is not indexed, by the form of its event.
TYPES = {
    TransferShape.AMOUNT: "BEP20",
    TransferShape.PACKED: "BEP20",
    TransferShape.ID: "BEP721",
    TransferShape.ITEMS: "BEP721",
    TransferShape.RANGE: "BEP721",
    **WITH_AMOUNTS,
}
SAID = ("tokenType", "tokenSymbol", "tokenDecimals")
MAX_MOVEMENTS = 1_000  # of each kind: one log may have 32,000 transfers
_DIRTY = bytes(12)
Tokens = Mapping[str, Mapping[str, Any]]  # records of indexed tokens by address


class Movements(NamedTuple):
    """The first MAX_MOVEMENTS records of each kind, in the order of the calls that made them."""

    transfers: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    is_truncated: bool


def kept_logs(frames: Sequence[TraceFrame]) -> list[stored_blocks.TransactionLog]:
    """Return the logs of calls that were not undone, without those that repeat what calls say."""
    logs = (log for frame in frames if not frame.is_undone for log in frame.logs or ())
    return [log for log in logs if log.address != blocks.COIN_EMITTER]


def movements(frames: Sequence[TraceFrame], tokens: Tokens, *, is_traced: bool) -> Movements:
    """Return what calls move and approve; without `is_traced` the frames are one call's own."""
    logs = kept_logs(frames)
    read = (transfer_event(blocks.EventLog(0, n, *log[:3])) for n, log in enumerate(logs))
    events = item_by_item([event for event in read if event is not None])
    of_coin = (
        _record(None, None, frame.from_address, frame.to_address, frame.value)
        for frame in frames
        if is_traced and frame.value and not frame.is_undone
        if frame.type in MOVING or is_creation(frame.type)
    )
    of_logs = (_event_movements(event, tokens, is_traced=is_traced) for event in events)
    most = MAX_MOVEMENTS + 1  # one more says that there are more
    transfers = [*islice(chain(of_coin, chain.from_iterable(of_logs)), most)]
    approvals = [*islice(chain.from_iterable(map(_approvals, logs)), most)]
    is_truncated = max(len(transfers), len(approvals)) > MAX_MOVEMENTS
    return Movements(transfers[:MAX_MOVEMENTS], approvals[:MAX_MOVEMENTS], is_truncated)


def _event_movements(
    event: TransferEvent, tokens: Tokens, *, is_traced: bool
) -> Iterator[dict[str, Any]]:
    """Yield what an event says of tokens, or of the coin, whose logs eth_simulateV1 adds; in a
    trace, only a contract can be their emitter."""
    added = (SIMULATED_COIN, TransferShape.AMOUNT)
    is_coin = not is_traced and (event.token, event.shape) == added
    details = None if is_coin else tokens.get(to_hex(event.token))
    if event.shape in WRAPPING and (details is None or not details["wraps"]):
        return  # of any contract that takes deposits
    type_ = TYPES.get(event.shape, "") if details is None else details["type"]
    item_type = None if details is None else details["itemType"]
    token, token_type = (None, None) if is_coin else (event.token, type_)
    for transfer in transfers(event, type_, item_type):
        record = _record(token, token_type, *transfer[4:6], transfer.value)
        if transfer.token_id is not None:
            record["tokenId"] = str(transfer.token_id)
            record["tokenType"] = item_type or type_
        if details is not None:
            record |= {"tokenSymbol": details["symbol"], "tokenDecimals": details["decimals"]}
        record["unproven"] = [name for name in SAID if record[name] is not None]
        yield record


def _record(
    token: bytes | None, type_: str | None, sender: bytes, recipient: bytes | None, value: int
) -> dict[str, Any]:
    return {
        "tokenAddress": None if token is None else to_hex(token),
        "tokenType": type_,
        "tokenSymbol": None,
        "tokenDecimals": None,
        "fromAddress": to_hex(sender),
        "toAddress": None if recipient is None else to_hex(recipient),
        "value": str(value),
        "tokenId": None,
        "unproven": [],
    }


def _approvals(log: stored_blocks.TransactionLog) -> Iterator[dict[str, Any]]:
    topics = log.topics
    if len(topics) < 3 or topics[0] not in (APPROVAL, APPROVAL_FOR_ALL):
        return
    if not all(topic.startswith(_DIRTY) for topic in topics[1:3]):
        return
    word = int.from_bytes(log.data[:32])
    is_of_all = topics[0] == APPROVAL_FOR_ALL
    is_of_item = len(topics) == 4
    if len(log.data) != (0 if is_of_item else 32) or (is_of_all and is_of_item):
        return
    yield {
        "tokenAddress": to_hex(log.address),
        "ownerAddress": to_hex(topics[1][12:]),
        "spenderAddress": to_hex(topics[2][12:]),
        "value": None if is_of_item or is_of_all else str(word),
        "tokenId": str(int.from_bytes(topics[3])) if is_of_item else None,
        "approved": bool(word) if is_of_all else None,
    }
