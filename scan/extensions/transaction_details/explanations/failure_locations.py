"""The lines of verified sources in which calls failed.

A call ends in code of the compiler's where arithmetic overflows, an argument is malformed or a
revert is passed on. The line is that of the last step before it that comes from a source.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.cached_values import SizedCache
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.internal_transfers.transaction_traces import TraceFrame, TransactionTraces
from scan.extensions.transaction_details.explanations import mapped_code
from scan.extensions.transaction_details.explanations.mapped_code import (
    FAILING_STEPS,
    FailingSteps,
    MappedCode,
    SourceFile,
    SourceFiles,
)
from scan.hex import to_hex
from scan.queries.reader import Sources
from scan.verification import source_maps
from scan.verification.source_maps import JUMP, JUMPI, RETURN, SourceFunction, SourceLine, Span

MAX_LOCATIONS = 20  # of a transaction: around its cause, from there outwards; then the first
TIMEOUT_S = 3.0
NOT_GIVEN_S = 60.0  # after which steps that the node did not give in time are requested again
NOT_GIVEN_BYTES = 256 * 1024
ENTRY_BYTES = 250

CallPath = tuple[int, ...]  # of a call in the trace


class Location(NamedTuple):
    """A line of a file of the contract at `address`, which is None of a build. `is_generated`: the
    call ended in code of the compiler's. `is_of_creation`: the contract is another one, that the
    same code created."""

    address: bytes | None
    file: SourceFile
    line: SourceLine
    is_generated: bool
    is_of_creation: bool

    def record(self) -> dict[str, Any]:
        return {
            "address": None if self.address is None else to_hex(self.address),
            "file": self.file.path,
            "line": self.line.line,
            "column": self.line.column,
            "function": self.line.function,
            "source": self.line.text,
            "generated": self.is_generated,
        }

    @property
    def anchor(self) -> str:
        """The id of the line on the page of the file."""
        return self.file.anchor(self.line.line)


class FailedCall(NamedTuple):
    """A call that failed: the address of its code, and the called function's name, if known. Of a
    creation there is no address; `creation` is its code, with constructor arguments."""

    address: bytes | None
    function: str | None
    creation: bytes = b""


def is_around(path: CallPath, cause: CallPath) -> bool:
    """Return whether a call is another one, or around it."""
    return path == cause[: len(path)]


def failed_calls(
    frames: Iterable[TraceFrame], names: Mapping[CallPath, str]
) -> dict[CallPath, FailedCall]:
    """Return the calls of a trace that failed; `names` are those of called functions. Of creations
    those whose code the trace has whole."""
    failed: dict[CallPath, FailedCall] = {}
    for frame in frames:
        path = frame.trace_address
        if frame.failure is None:
            continue
        if is_creation(frame.type):
            if len(frame.input) == frame.input_size:
                failed[path] = FailedCall(None, None, frame.input)
        elif frame.to_address is not None:
            failed[path] = FailedCall(frame.to_address, names.get(path))
    return failed


def innermost(locations: Mapping[CallPath, Location], cause: CallPath) -> Location | None:
    """Return the line of a call that failed by itself, or where it ended outside of all functions,
    of the innermost call around it that ended in one."""
    inwards = [locations[path] for path in sorted(locations, key=len) if is_around(path, cause)]
    in_functions = [location for location in inwards if location.line.function]
    *_, location = [None, *inwards[-1:], *in_functions[-1:]]
    return location


class _Place(NamedTuple):
    """Where a step is in a source."""

    span: Span
    file: SourceFile

    @property
    def function(self) -> tuple[str, SourceFunction | None]:
        return self.file.path, self.file.text.function_at(self.span)

    @property
    def is_outside(self) -> bool:
        """Whether it is of no function, as what is mapped to a whole contract or file."""
        return self.file.text.function_at(self.span) is None

    def is_elsewhere(self, called: str | None) -> bool:
        """Whether it is in no function, or in one that a call of another does not reach: optimisers
        let code that is equal be one."""
        _, function = self.function
        return function is None or (
            function.is_external and called is not None and function.name != called
        )

    @property
    def is_check(self) -> bool:
        return self.file.text.is_check(self.span)


class FailureLocations:
    """A reader of the lines in which calls failed."""

    def __init__(self, sources: Sources, traces: TransactionTraces) -> None:
        self._sources = sources
        self._traces = traces
        self._not_given: SizedCache[float] = SizedCache(NOT_GIVEN_BYTES)  # until when

    def read(
        self,
        node: NodeSession,
        indexed: IndexedTransaction,
        calls: Mapping[CallPath, FailedCall],
        cause: CallPath,
    ) -> dict[CallPath, Location]:
        """Return where calls failed, by their places in the trace; `cause` is that of the call
        because of which the transaction failed. Nothing where the contracts have
        no source maps, or where the node does not say which steps they took. Raises Unavailable if
        the database is unavailable."""
        if not self.may_be_located(calls):
            return {}
        return self.of_steps(calls, cause, self._steps(node, indexed), indexed.block_number)

    def may_be_located(self, calls: Mapping[CallPath, FailedCall]) -> bool:
        """Return whether the code of any of these calls has a source map."""
        addresses = [call.address for call in calls.values() if call.address is not None]
        return self.may_be_known(addresses) or bool(
            mapped_code.of_creations(self._sources, _creations(calls))
        )

    def may_be_known(self, addresses: Iterable[bytes]) -> bool:
        """Return whether any of these contracts has a source map."""
        return mapped_code.has_source_map(self._sources.database, addresses)

    def of_steps(
        self,
        calls: Mapping[CallPath, FailedCall],
        cause: CallPath,
        steps: FailingSteps,
        block_number: int,
        replaced: Collection[bytes] = (),
    ) -> dict[CallPath, Location]:
        """Return where calls failed at a block, as read() does, by their last steps; not where they
        ran other code than the chain's, at the addresses `replaced`."""
        around = [cause[:depth] for depth in range(len(cause), -1, -1)]
        paths = [
            path for path in dict.fromkeys([*around, *calls]) if path in calls and path in steps
        ]
        calls = {path: calls[path] for path in paths[:MAX_LOCATIONS]}
        addresses = {call.address for call in calls.values() if call.address is not None}
        database = self._sources.database
        contracts = mapped_code.of_contracts(database, addresses - {*replaced}, block_number)
        mapped = mapped_code.of_creations(self._sources, _creations(calls))
        for path, call in calls.items():
            if call.address in contracts:
                mapped[path] = contracts[call.address]
        files = SourceFiles(database)
        located = {
            path: _located(call, mapped[path], steps[path], files)
            for path, call in calls.items()
            if path in mapped
        }
        return {path: location for path, location in located.items() if location is not None}

    def _steps(self, node: NodeSession, indexed: IndexedTransaction) -> FailingSteps:
        """Return the last steps of calls that failed; none where the node does not give them."""
        key = (indexed.hash, indexed.block_hash)
        node = node.within(TIMEOUT_S)
        if (self._not_given.get(key) or 0.0) > time.monotonic():
            node.record_failed()
            return {}
        try:
            steps: FailingSteps = self._traces.read(node, indexed, FAILING_STEPS)
        except TracesUnavailable:
            return {}
        except UpstreamFailed:
            self._not_given.store(key, time.monotonic() + NOT_GIVEN_S, ENTRY_BYTES)
            return {}
        except Unavailable:
            if not node.failed:
                raise  # the database is unavailable
            return {}  # no place was free for this client
        return steps


def _creations(calls: Mapping[CallPath, FailedCall]) -> dict[CallPath, bytes]:
    return {path: call.creation for path, call in calls.items() if call.creation}


def _located(
    call: FailedCall, mapped: MappedCode, steps: Sequence[int], files: SourceFiles
) -> Location | None:
    """Return the line of the last step in a function, else of the last that is in a source.
    `files` are those that were read for other calls of the transaction."""
    if not all(step < len(mapped.code) for step in steps):
        return None  # they are of other code
    spans = source_maps.spans_at(mapped.code, mapped.source_map, steps)
    places = [_place(mapped, span, files) for span in reversed(spans)][::-1]
    index = _last_step(places, _origins(mapped.code, steps, spans))
    if call.address is None and steps and mapped.code[steps[-1]] == RETURN:
        index = len(steps) - 1  # the code that it returned was not accepted
    place = None if index is None else places[index]
    if place is None:
        return None
    is_generated = index != len(steps) - 1
    if place.is_elsewhere(call.function):
        declared = _declared(places, call.function)
        place, is_generated = declared or place, is_generated or declared is not None
    line = place.file.text.line_at(place.span)
    if line is None:
        return None
    address = call.address or mapped.verified_address
    return Location(address, place.file, line, is_generated, call.address is None)


def _place(mapped: MappedCode, span: Span | None, files: SourceFiles) -> _Place | None:
    """Return where a step is; None where that is no source, or one file too many."""
    if span is None or span.start < 0:
        return None
    file = files.file(mapped, span.file)
    return None if file is None else _Place(span, file)


def _last_step(places: Sequence[_Place | None], origins: Sequence[int | None]) -> int | None:
    """Return the index of the step whose line is shown.

    Optimisers let blocks that are equal be one, such as those that revert alike: then the map has
    the line of one of them, and the line that led there is shown.
    """
    known = [index for index, place in enumerate(places) if place is not None]
    inside = [index for index in known if (p := places[index]) and not p.is_outside]
    if not inside:
        return known[-1] if known else None
    index = inside[-1]
    while (origin := origins[index]) is not None:
        led = next((at for at in range(origin, -1, -1) if places[at] is not None), index)
        place, before = places[index], places[led]
        if place is None or before is None or before.is_outside:
            break
        reached = next((p for p in places[origin + 1 :] if p is not None), place)
        # Where a condition holds, it jumps to code of its own, as from one constructor to the next.
        is_other_check = before.is_check and before.span[:3] not in (
            place.span[:3],
            reached.span[:3],
        )
        if before.function in (place.function, reached.function) and not is_other_check:
            break
        index = led
    return index


def _declared(places: Sequence[_Place | None], name: str | None) -> _Place | None:
    """Return the declaration of the called function, in the contract that all of the code that is
    of no function is mapped to."""
    outside = next((p for p in places if p and p.file.text.is_whole_contract(p.span)), None)
    span = name and outside and outside.file.text.function_in(outside.span, name)
    return outside._replace(span=span) if outside and span else None


def _origins(code: bytes, steps: Sequence[int], spans: Sequence[Span | None]) -> list[int | None]:
    """Return for each step the index of the step that led to its block: the jump to it, or the call
    of the function that returned to it; None where it was called itself, or is the first."""
    origins: list[int | None] = []
    origin: int | None = None
    calls: list[int] = []  # that have not returned
    for index, step in enumerate(steps):
        before = index - 1
        if index and code[steps[before]] in (JUMP, JUMPI) and step != steps[before] + 1:
            span = spans[before]
            kind = span.jump if span else "-"
            if kind == "i":
                calls.append(before)
                origin = None
            elif kind == "o":
                origin = calls.pop() if calls else None
            else:
                origin = before
        origins.append(origin)
    return origins
