"""The lines of verified sources in which calls failed.

A call ends in code of the compiler's where arithmetic overflows, an argument is malformed or a
revert is passed on. The line is that of the last step before it that comes from a source.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.cached_values import SizedCache
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.explanations.transactions import compiler_findings, mapped_code
from scan.extensions.explanations.transactions.compiler_findings import (
    JUMP,
    JUMPI,
    RETURN,
    SourceLine,
    Span,
)
from scan.extensions.explanations.transactions.mapped_code import (
    FAILING_STEPS,
    FailingSteps,
    MappedCode,
    Place,
    RunFunctions,
    SourceFile,
    SourceFiles,
)
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import TraceFrame, TransactionTraces
from scan.queries.reader import Reader, Sources

recorded = recording(__file__)

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
        return recorded("location", self)

    @property
    def anchor(self) -> str:
        """The id of the line on the page of the file."""
        return self.file.anchor(self.line.line)


class FailedCall(NamedTuple):
    """A call that failed: the address of its code, and the selector in its input, or what the input
    has of one. Of a creation there is no address; `creation` is its code, with constructor
    arguments."""

    address: bytes | None
    selector: bytes
    creation: bytes = b""


def is_around(path: CallPath, cause: CallPath) -> bool:
    """Return whether a call is another one, or around it."""
    return path == cause[: len(path)]


def failed_calls(frames: Iterable[TraceFrame]) -> dict[CallPath, FailedCall]:
    """Return the calls of a trace that failed; of creations those whose code the trace has
    whole."""
    failed: dict[CallPath, FailedCall] = {}
    for frame in frames:
        path = frame.trace_address
        if frame.failure is None:
            continue
        if is_creation(frame.type):
            if len(frame.input) == frame.input_size:
                failed[path] = FailedCall(None, b"", frame.input)
        elif frame.to_address is not None:
            failed[path] = FailedCall(frame.to_address, frame.input[:4])
    return failed


def innermost(locations: Mapping[CallPath, Location], cause: CallPath) -> Location | None:
    """Return the line of a call that failed by itself, or where it ended outside of all functions,
    of the innermost call around it that ended in one."""
    inwards = [locations[path] for path in sorted(locations, key=len) if is_around(path, cause)]
    in_functions = [location for location in inwards if location.line.function]
    *_, location = [None, *inwards[-1:], *in_functions[-1:]]
    return location


class NotGiven(SizedCache[float]):
    """Until when steps that the node did not give in time are not requested again, by transaction
    and block."""

    def __init__(self) -> None:
        super().__init__(NOT_GIVEN_BYTES)


def read(
    reader: Reader,
    indexed: IndexedTransaction,
    calls: Mapping[CallPath, FailedCall],
    cause: CallPath,
) -> dict[CallPath, Location]:
    """Return where calls failed, by their places in the trace; `cause` is that of the call because
    of which the transaction failed. Nothing where the contracts have no source maps, or where the
    node does not say which steps they took. Raises Unavailable if the database is unavailable."""
    if not may_be_located(reader.sources, calls, indexed.block_number):
        return {}
    return of_steps(reader.sources, calls, cause, _steps(reader, indexed), indexed.block_number)


def may_be_located(
    sources: Sources, calls: Mapping[CallPath, FailedCall], block_number: int
) -> bool:
    """Return whether the code of any of these calls at a block has a source map."""
    addresses = [call.address for call in calls.values() if call.address is not None]
    return mapped_code.has_source_map(sources.database, addresses, block_number) or bool(
        mapped_code.of_creations(sources, _creations(calls))
    )


def of_steps(
    sources: Sources,
    calls: Mapping[CallPath, FailedCall],
    cause: CallPath,
    steps: FailingSteps,
    block_number: int,
    replaced: Collection[bytes] = (),
) -> dict[CallPath, Location]:
    """Return where calls failed at a block, as read() does, by their last steps; not where they ran
    other code than the chain's, at the addresses `replaced`."""
    around = [cause[:depth] for depth in range(len(cause), -1, -1)]
    paths = [path for path in dict.fromkeys([*around, *calls]) if path in calls and path in steps]
    calls = {path: calls[path] for path in paths[:MAX_LOCATIONS]}
    addresses = {call.address for call in calls.values() if call.address is not None}
    contracts = mapped_code.of_contracts(sources.database, addresses - {*replaced}, block_number)
    mapped = mapped_code.of_creations(sources, _creations(calls))
    files = SourceFiles(sources.database)
    located: dict[CallPath, Location] = {}
    for path, call in calls.items():
        code = contracts.get(call.address or b"") or mapped.get(path)
        if code is not None and (location := _located(call, code, steps[path], files)):
            located[path] = location
    return located


def _steps(reader: Reader, indexed: IndexedTransaction) -> FailingSteps:
    """Return the last steps of calls that failed; none where the node does not give them."""
    key, not_given = (indexed.hash, indexed.block_hash), reader.sources.get(NotGiven)
    node = reader.node.within(TIMEOUT_S)
    if (not_given.get(key) or 0.0) > time.monotonic():
        node.record_failed()
        return {}
    try:
        traces = reader.sources.get(TransactionTraces)
        steps: FailingSteps = traces.read(node, indexed, FAILING_STEPS)
    except TracesUnavailable:
        return {}
    except UpstreamFailed:
        not_given.store(key, time.monotonic() + NOT_GIVEN_S, ENTRY_BYTES)
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
    spans = compiler_findings.spans_at(mapped.code, mapped.source_map, steps)
    run = mapped.run_by(call.selector)
    places = [_place(mapped, span, files, run) for span in reversed(spans)][::-1]
    index = _last_step(places, _origins(mapped.code, steps, spans))
    if call.address is None and steps and mapped.code[steps[-1]] == RETURN:
        index = len(steps) - 1  # the code that it returned was not accepted
    place = None if index is None else places[index]
    is_generated = index != len(steps) - 1
    if (run and run.called) and (
        index is None
        or place is None
        or place.function is None
        or (
            _ends_in_block(mapped.code, steps, places, index)
            and _is_one_of(place, run, mapped, files)
        )
    ):
        place, is_generated = _place(mapped, run.called, files, run) or place, True
    if place is None:
        return None
    line = place.file.text.line_at(place.span)
    if line is None:
        return None
    address = call.address or mapped.verified_address
    return Location(address, place.file, line, is_generated, call.address is None)


def _place(
    mapped: MappedCode, span: Span | None, files: SourceFiles, run: RunFunctions | None
) -> Place | None:
    """Return where a step is in a source; None in a function that the call did not run."""
    place = None if span is None else files.place(mapped, span)
    return None if place and run and not run.has(place) else place


def _last_step(places: Sequence[Place | None], origins: Sequence[int | None]) -> int | None:
    """Return the index of the step whose line is shown.

    Optimisers let blocks that are equal be one, such as those that revert alike: then the map has
    the line of one of them, and the line that led there is shown.
    """
    indexes = [index for index, place in enumerate(places) if place is not None]
    inside = [index for index in indexes if (p := places[index]) and p.function is not None]
    if not inside:
        return indexes[-1] if indexes else None
    index = inside[-1]
    while (origin := origins[index]) is not None:
        led = next((at for at in range(origin, -1, -1) if places[at] is not None), index)
        place, before = places[index], places[led]
        if place is None or before is None or before.function is None:
            break
        reached = next((p for p in places[origin + 1 :] if p is not None), place)
        # Where a condition holds, it jumps to code of its own, as from one constructor to the next.
        spans = place.span[:3], reached.span[:3]
        is_other_check = before.is_check and before.span[:3] not in spans
        functions = [(p.file.path, p.function) for p in (before, place, reached)]
        if functions[0] in functions[1:] and not is_other_check:
            break
        index = led
    return index


def _ends_in_block(
    code: bytes, steps: Sequence[int], places: Sequence[Place | None], index: int
) -> bool:
    """Return whether the map ends within a block, which goes on to others: with the IR it has some
    steps of a line, whose refusal may be that of another line with equal words."""
    jumps = [n for n in range(index, len(steps)) if code[steps[n]] in (JUMP, JUMPI)]
    after = places[index + 1] if index + 1 < len(places) else places[index]
    return bool(jumps) and jumps[0] > index and after is not None and after.function is None


def _is_one_of(place: Place, run: RunFunctions, mapped: MappedCode, files: SourceFiles) -> bool:
    """Return whether functions that the call ran refuse with equal words elsewhere, too."""
    words = [w for start, end, w in place.file.text.refusals(0) if start <= place.span.start < end]
    texts = [(files.file(mapped, file), start, end) for file, start, end in run.spans]
    of_all = [w for file, *part in texts if file for _, _, w in file.text.refusals(*part)]
    return bool(words) and of_all.count(words[0]) > 1


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
