"""The calls of a transaction and its changes of the state, at /trace and /state-changes and as tabs
of its page; the reason of its failure there and in lists. Reasons live as long as the process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from flask import Blueprint

from scan.api.blocks_and_transactions import indexed_transaction
from scan.api.hooks import Api
from scan.api.renamed_fields import recording
from scan.contracts.abi_decoding import Decoded
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.stored_blocks import TransactionLog
from scan.extensions.decoding.details import TracedCode
from scan.extensions.explanations.transactions import (
    console_logs,
    state_changes,
    transaction_failures,
)
from scan.extensions.explanations.transactions import queries as explanations
from scan.extensions.explanations.transactions.explanation import CodeInTraces
from scan.extensions.explanations.transactions.trace_decoding import DecodedFrame
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import TransactionTrace
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.http.hooks import Service
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.pages.hooks import Pages, Section, Shown, TransactionTab
from scan.pages.records import Record, addresses_in

recorded = recording(__file__)
blueprint = Blueprint("explanations", __name__)


@blueprint.get("/transactions/<transaction_hash>/trace")
@requires(Prerequisite.NODE)
def get_trace(transaction_hash: str) -> Response:
    record = indexed_transaction(transaction_hash)
    trace, frames = explanations.calls(reader(), record)
    printed = console_logs.printed(trace)
    trace_record = {
        "frames": [frame.record() for frame in frames],
        "frameCount": trace.frame_count,
        "logs": [line.record() for line in printed.lines],
    }
    is_truncated = trace.is_truncated or printed.is_truncated
    return of_trace(record, trace_record, is_truncated=is_truncated)


@blueprint.get("/transactions/<transaction_hash>/state-changes")
@requires(Prerequisite.NODE)
def get_state_changes(transaction_hash: str) -> Response:
    record = indexed_transaction(transaction_hash)
    changes = explanations.state_changes(reader(), record)
    changes_record = recorded("state_changes", changes)
    return of_trace(record, changes_record, is_truncated=changes.is_truncated)


def of_trace(
    record: Mapping[str, Any], of_trace: Mapping[str, Any], *, is_truncated: bool, **more: Any
) -> Response:
    """Return what a node's trace shows, which nothing proves, with `more` that the index has."""
    return json_value(
        {
            "transactionHash": record["hash"],
            "blockNumber": record["blockNumber"],
            "blockHash": record["blockHash"],
            **more,
            **of_trace,
            "truncated": is_truncated,
            "unproven": [*of_trace],
        }
    )


MAX_CALLS = 200
MAX_ACCOUNTS = 100
MAX_SLOTS = 50  # of an account
MAX_INDENT = 12  # deeper calls are not indented further


class TreeLine(NamedTuple):
    """A line of the call tree: a call, or inside of one its event `log`, or what it returned.
    `opens` if the line begins a list of what happens inside, `closes` as many lists after it;
    `is_passed_on` if the call failed for the reason of one of its calls."""

    level: int
    decoded: DecodedFrame
    log: tuple[TransactionLog, Decoded | None] | None = None
    is_return: bool = False
    is_creation: bool = False
    is_passed_on: bool = False
    has_calls: bool = False
    opens: bool = False
    closes: int = 0


class ShownTraces(NamedTuple):
    """The data of a tab; `problem` is why there are neither calls nor accounts."""

    calls: Sequence[TreeLine] = ()
    accounts: Sequence[state_changes.AccountChange] = ()
    total: int = 0
    shown: int = 0
    is_truncated: bool = False
    problem: str | None = None

    def addresses(self) -> Iterator[str]:
        """Yield the addresses that the tab shows by their names."""
        for account in self.accounts:
            yield to_hex(account.address)
            yield from map(to_hex, account.layouts)
            for slot in account.slots[:MAX_SLOTS]:
                yield from (a for variable in slot.variables for a in variable.addresses())
        for decoded in (line.decoded for line in self.calls if not line.log and not line.is_return):
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


def shown_calls(trace: TransactionTrace, frames: Sequence[DecodedFrame]) -> ShownTraces:
    """Return the first MAX_CALLS of a trace as a tree."""
    frames = frames[:MAX_CALLS]
    lines = [line._replace(level=min(line.level, MAX_INDENT)) for line in _lines(frames)]
    levels = [*(line.level for line in lines), 0]
    calls = [
        line._replace(opens=following > line.level, closes=max(line.level - following, 0))
        for line, following in zip(lines, levels[1:], strict=True)
    ]
    is_truncated = trace.is_truncated or len(frames) < trace.frame_count
    return ShownTraces(calls, (), trace.frame_count, len(frames), is_truncated)


def _lines(frames: Sequence[DecodedFrame]) -> Iterator[TreeLine]:
    """Yield calls, events and, after these, what calls returned, in the order in which they
    happened: as far as the node reports where events are among calls, else those after them."""
    outer: list[tuple[TreeLine, list[tuple[int, TreeLine]]]] = []  # with the events to come

    def end() -> Iterator[TreeLine]:
        call, events = outer.pop()
        yield from (event for _, event in events)
        if call.decoded.result and (call.decoded.logs or call.has_calls):
            yield TreeLine(call.level + 1, call.decoded, is_return=True)

    for index, decoded in enumerate(frames):
        path = decoded.frame.trace_address
        while len(outer) > len(path):
            yield from end()
        if outer:
            events = outer[-1][1]
            while events and 0 <= events[0][0] <= path[-1]:
                yield events.pop(0)[1]
        after = frames[index + 1 :]
        call = TreeLine(
            len(path),
            decoded,
            is_creation=is_creation(decoded.frame.type),
            is_passed_on=_is_passed_on(decoded, after),
            has_calls=bool(after) and len(after[0].frame.trace_address) > len(path),
        )
        yield call
        logs = zip(decoded.frame.log_positions, decoded.logs or (), strict=False)
        outer.append((call, [(at, TreeLine(len(path) + 1, decoded, log)) for at, log in logs]))
    while outer:
        yield from end()


def _is_passed_on(decoded: DecodedFrame, after: Sequence[DecodedFrame]) -> bool:
    depth = len(decoded.frame.trace_address)
    inside = takewhile(lambda call: len(call.frame.trace_address) > depth, after)
    return decoded.reason is not None and any(call.reason == decoded.reason for call in inside)


def shown_accounts(changes: state_changes.StateChanges) -> ShownTraces:
    """Return the first MAX_ACCOUNTS of the changed accounts."""
    accounts = changes.accounts[:MAX_ACCOUNTS]
    is_truncated = changes.is_truncated or len(accounts) < changes.account_count
    return ShownTraces((), accounts, changes.account_count, len(accounts), is_truncated)


_call_tree = partial(_shown, lambda sent: shown_calls(*explanations.calls(reader(), sent)))
_state = partial(_shown, lambda sent: shown_accounts(explanations.state_changes(reader(), sent)))
HOOKS = (
    Api(blueprints=(blueprint,)),
    Service(make=lambda core: transaction_failures.TransactionFailures(core.writes)),
    Service(make=lambda core: CodeInTraces(), base=TracedCode),
    Pages(
        sections=(Section({"transaction_facts": "transaction_reason.html"}),),
        add_to_transactions=transaction_failures.add_reasons,
        tabs=(
            TransactionTab("calls", "Call tree", "/trace", _call_tree, opens=True, needs_node=True),
            TransactionTab("state", "State changes", "/state-changes", _state, needs_node=True),
        ),
    ),
)
