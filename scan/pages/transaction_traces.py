"""The tabs of a transaction's page, and the data of those by traces: calls, state changes."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from flask import request

from scan import parameters
from scan.contracts.abi_decoding import Decoded
from scan.contracts.trace_decoding import DecodedFrame
from scan.errors import InvalidParameter, TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.state_changes import AccountChange
from scan.ethereum.traces import is_creation
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite
from scan.http.requests import reader
from scan.pages.records import Record, requested_tab
from scan.queries import transactions

OVERVIEW, EVENTS, CALLS, STATE = "overview", "events", "calls", "state"
TRACED = (CALLS, STATE, "internal", "raw_trace")  # the last two are Blockscout's
MAX_CALLS = 200
MAX_ACCOUNTS = 100
MAX_SLOTS = 50  # of an account
MAX_INDENT = 12  # deeper calls are not indented further


def tab() -> str:
    """Return the requested tab, empty for the overview; raises InvalidParameter for an unknown
    one."""
    name = requested_tab((OVERVIEW, EVENTS, CALLS, STATE))
    return "" if name == OVERVIEW else name


def is_open(shown_tab: str) -> bool:
    """Return whether all events or calls are shown with their details; raises InvalidParameter
    where there is nothing to open."""
    if "open" not in request.args:
        return False
    if shown_tab not in (EVENTS, CALLS):
        raise InvalidParameter("open=all is for the tabs of events and calls.", field="open")
    return bool(parameters.one_of(request.args["open"], "open", ("all",)))


def prerequisite(query: str) -> Prerequisite | None:
    """Return the page's prerequisite by its query string: the node for tabs by traces."""
    is_traced = any(f"tab={name}" in query for name in TRACED)
    return Prerequisite.NODE if is_traced else None


class ShownCall(NamedTuple):
    """A call in the tree: `opens` if it begins a list of its own calls, `closes` as many lists
    after it; `is_passed_on` if it failed for the reason of one of its calls."""

    opens: bool
    closes: int
    decoded: DecodedFrame
    is_creation: bool
    is_passed_on: bool


class ShownTraces(NamedTuple):
    """The data of a tab; `problem` is why there are neither calls nor accounts."""

    calls: Sequence[ShownCall] = ()
    accounts: Sequence[AccountChange] = ()
    total: int = 0
    is_truncated: bool = False
    problem: str | None = None

    def addresses(self) -> Iterator[str]:
        """Yield the addresses that the tab shows by their names."""
        for account in self.accounts:
            yield to_hex(account.address)
        for _, _, decoded, *_ in self.calls:
            yield to_hex(decoded.frame.from_address)
            if decoded.frame.to_address is not None:
                yield to_hex(decoded.frame.to_address)
            for call_or_event in (decoded.function, *(event for _, event in decoded.logs or ())):
                yield from addresses_in(call_or_event)


def addresses_in(decoded: Decoded | None) -> Iterator[str]:
    for argument in decoded.arguments if decoded else ():
        if argument.type == "address" and not argument.hashed:
            yield argument.value


def shown_traces(transaction: Record, name: str) -> ShownTraces:
    """Return the data of a tab, which are empty for the overview and the events."""
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
    levels = [min(len(decoded.frame.trace_address), MAX_INDENT) for decoded in frames]
    calls = [
        ShownCall(
            next_level > level,
            max(level - next_level, 0),
            decoded,
            is_creation(decoded.frame.type),
            _is_passed_on(decoded, frames[index + 1 :]),
        )
        for index, (decoded, level, next_level) in enumerate(
            zip(frames, levels, [*levels[1:], 0], strict=True)
        )
    ]
    is_truncated = trace.is_truncated or len(frames) < trace.frame_count
    return ShownTraces(calls, (), trace.frame_count, is_truncated)


def _is_passed_on(decoded: DecodedFrame, after: Sequence[DecodedFrame]) -> bool:
    depth = len(decoded.frame.trace_address)
    inside = takewhile(lambda call: len(call.frame.trace_address) > depth, after)
    return decoded.reason is not None and any(call.reason == decoded.reason for call in inside)


def _state(transaction: Record) -> ShownTraces:
    changes = transactions.state_changes(reader(), transaction)
    accounts = changes.accounts[:MAX_ACCOUNTS]
    is_truncated = changes.is_truncated or len(accounts) < changes.account_count
    return ShownTraces((), accounts, changes.account_count, is_truncated)
