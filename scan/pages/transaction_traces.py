"""The tabs of a transaction's page that are read from the node's traces: calls, state changes."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from flask import request

from scan import parameters
from scan.contracts.abi_decoding import Argument, Decoded
from scan.contracts.decoded_traces import DecodedFrame
from scan.contracts.failure_reasons import Reason
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.state_changes import AccountChange, SlotChange
from scan.ethereum.traces import is_creation
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite
from scan.http.requests import reader
from scan.pages.records import Record
from scan.queries import transactions

OVERVIEW, CALLS, STATE = "overview", "calls", "state"
MAX_CALLS = 200
MAX_ACCOUNTS = 100
MAX_SLOTS = 50  # of an account
MAX_INDENT = 12  # deeper calls are not indented further


def tab() -> str:
    """Empty for the overview; raises InvalidParameter for one that there is not."""
    name = parameters.one_of(request.args.get("tab") or OVERVIEW, "tab", (OVERVIEW, CALLS, STATE))
    return "" if name == OVERVIEW else name


def prerequisite(query: str) -> Prerequisite | None:
    """Of the page, by its query string."""
    is_traced = any(f"tab={name}" in query for name in (CALLS, STATE))
    return Prerequisite.NODE if is_traced else None


class ShownCall(NamedTuple):
    """`level` is how far it is indented, `opens` whether calls in it follow, and `closes` how many
    lists end after it. `is_passed_on`: it failed for the reason of a call in it."""

    level: int
    opens: bool
    closes: int
    place: str
    type: str
    from_address: str
    to_address: str | None
    is_creation: bool
    value: int
    gas: int | None
    gas_used: int | None
    input: str
    input_size: int
    output: str
    output_size: int
    function: Decoded | None
    selector: str | None
    result: Sequence[Argument] | None
    reason: Reason | None
    is_passed_on: bool
    is_undone: bool
    events: Sequence[Decoded]
    log_count: int


class ShownSlot(NamedTuple):
    slot: str
    before: str
    after: str


class ShownAccount(NamedTuple):
    address: str
    change: AccountChange
    slots: Sequence[ShownSlot]
    slot_count: int


class ShownTraces(NamedTuple):
    """`problem` is why there are neither calls nor accounts."""

    calls: Sequence[ShownCall] = ()
    accounts: Sequence[ShownAccount] = ()
    total: int = 0
    is_truncated: bool = False
    problem: str | None = None

    def addresses(self) -> Iterator[str]:
        """Addresses to show with their names."""
        for account in self.accounts:
            yield account.address
        for call in self.calls:
            yield call.from_address
            if call.to_address is not None:
                yield call.to_address
            for decoded in (call.function, *call.events):
                yield from addresses_in(decoded.arguments if decoded else ())


def addresses_in(arguments: Sequence[Argument]) -> Iterator[str]:
    for argument in arguments:
        if argument.type == "address" and not argument.hashed:
            yield argument.value


def shown_traces(transaction: Record, name: str) -> ShownTraces:
    """What a tab shows; nothing of the overview."""
    try:
        if name == CALLS:
            return _calls(transaction)
        return _state(transaction) if name == STATE else ShownTraces()
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        reader().do_not_cache()
        return ShownTraces(problem=error.message)


def _calls(transaction: Record) -> ShownTraces:
    trace, frames = transactions.calls(reader(), transaction)
    frames = frames[:MAX_CALLS]
    levels = [min(len(each.frame.trace_address), MAX_INDENT) for each in frames]
    calls = [
        _shown_call(each, level, following, is_passed_on=_is_passed_on(each, frames[n + 1 :]))
        for n, (each, level, following) in enumerate(
            zip(frames, levels, [*levels[1:], 0], strict=True)
        )
    ]
    is_truncated = trace.is_truncated or len(frames) < trace.frame_count
    return ShownTraces(calls, (), trace.frame_count, is_truncated)


def _is_passed_on(decoded: DecodedFrame, after: Sequence[DecodedFrame]) -> bool:
    depth = len(decoded.frame.trace_address)
    inside = takewhile(lambda each: len(each.frame.trace_address) > depth, after)
    return decoded.reason is not None and any(each.reason == decoded.reason for each in inside)


def _shown_call(
    decoded: DecodedFrame, level: int, following: int, *, is_passed_on: bool
) -> ShownCall:
    frame = decoded.frame
    creates = is_creation(frame.type)
    selector = frame.input[:4] if not creates and len(frame.input) >= 4 else None
    return ShownCall(
        level,
        following > level,
        max(level - following, 0),
        ".".join(map(str, frame.trace_address)),
        frame.type,
        to_hex(frame.from_address),
        None if frame.to_address is None else to_hex(frame.to_address),
        creates,
        frame.value,
        frame.gas,
        frame.gas_used,
        to_hex(frame.input),
        frame.input_size,
        to_hex(frame.output),
        frame.output_size,
        decoded.function,
        None if selector is None else to_hex(selector),
        decoded.result,
        decoded.reason,
        is_passed_on,
        frame.is_undone,
        [event for _, event in decoded.logs or () if event is not None],
        len(decoded.logs or ()),
    )


def _state(transaction: Record) -> ShownTraces:
    changes = transactions.state_changes(reader(), transaction)
    accounts = [
        ShownAccount(
            to_hex(change.address),
            change,
            [_shown_slot(slot) for slot in change.slots[:MAX_SLOTS]],
            len(change.slots),
        )
        for change in changes.accounts[:MAX_ACCOUNTS]
    ]
    is_truncated = changes.is_truncated or len(accounts) < changes.account_count
    return ShownTraces((), accounts, changes.account_count, is_truncated)


def _shown_slot(change: SlotChange) -> ShownSlot:
    """Without leading zeros."""
    return ShownSlot(*(hex(int.from_bytes(word, "big")) for word in change))
