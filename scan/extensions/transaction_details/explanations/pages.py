"""The sentence and the reason on a transaction's page, and its tabs: calls, state changes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.internal_transfers.transaction_traces import TransactionTrace
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.extensions.transaction_details.explanations.listed_failures import add_reasons
from scan.extensions.transaction_details.explanations.state_changes import (
    AccountChange,
    StateChanges,
)
from scan.extensions.transaction_details.explanations.trace_decoding import DecodedFrame
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.argument_values import addresses_in
from scan.pages.hooks import Pages, Section, Shown, TransactionTab
from scan.pages.records import Record

MAX_CALLS = 200
MAX_ACCOUNTS = 100
MAX_SLOTS = 50  # of an account
MAX_INDENT = 12  # deeper calls are not indented further


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
            yield from map(to_hex, account.layouts)
            for slot in account.slots[:MAX_SLOTS]:
                yield from (a for variable in slot.variables for a in variable.addresses())
        for _, _, decoded, *_ in self.calls:
            yield to_hex(decoded.frame.from_address)
            if decoded.frame.to_address is not None:
                yield to_hex(decoded.frame.to_address)
            for call_or_event in (decoded.function, *(event for _, event in decoded.logs or ())):
                yield from addresses_in(call_or_event)


def _shown(read: Callable[[Record], ShownTraces], transaction: Record) -> Shown:
    """Return the values of a tab."""
    try:
        traces = read(transaction)
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        reader().do_not_cache()
        traces = ShownTraces(problem=error.message)
    return Shown({"traces": traces, "most_slots": MAX_SLOTS}, traces.addresses())


def _calls(transaction: Record) -> ShownTraces:
    return shown_calls(*explanations.calls(reader(), transaction))


def shown_calls(trace: TransactionTrace, frames: Sequence[DecodedFrame]) -> ShownTraces:
    """Return the first MAX_CALLS of a trace as a tree."""
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
    return shown_accounts(explanations.state_changes(reader(), transaction))


def shown_accounts(changes: StateChanges) -> ShownTraces:
    """Return the first MAX_ACCOUNTS of the changed accounts."""
    accounts = changes.accounts[:MAX_ACCOUNTS]
    is_truncated = changes.is_truncated or len(accounts) < changes.account_count
    return ShownTraces((), accounts, changes.account_count, is_truncated)


_call_tree, _state_changes = partial(_shown, _calls), partial(_shown, _state)


def add_to_transactions(transactions: Sequence[dict[str, Any]]) -> None:
    """Add why those that failed did, for lists."""
    add_reasons(reader(), transactions)


HOOKS = Pages(
    sections=(Section({"transaction_facts": "transaction_reason.html"}),),
    add_to_transactions=add_to_transactions,
    tabs=(
        TransactionTab("calls", "Call tree", "/trace", _call_tree, opens=True, needs_node=True),
        TransactionTab("state", "State changes", "/state-changes", _state_changes, needs_node=True),
    ),
)
