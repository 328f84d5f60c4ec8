"""The lines of verified sources in which calls failed.

The line is that of the statement that agrees with the reason, of those that the call may run, as
refusing_statements.py has them. Of several it is the one at which the source map has the last step
in a source, where the map has all places of code; else only the function is known. A creation that
no source map is known of has its line by the statements of the creating contract's sources alone.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.cached_values import SizedCache
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum import node_errors
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.compiled_sources import mapped_code, source_maps
from scan.extensions.compiled_sources.mapped_code import (
    MappedCode,
    Place,
    RunFunctions,
    SourceFile,
    SourceFiles,
)
from scan.extensions.compiled_sources.refusing_statements import (
    CALLED,
    COMPUTED,
    ERROR,
    NEW,
    PANIC,
    SAID,
    Candidate,
    Failure,
    Refusal,
)
from scan.extensions.compiled_sources.source_maps import (
    CALLS,
    JUMP,
    JUMPI,
    MCOPY,
    MSTORE,
    RETURN,
    RETURNDATACOPY,
    REVERT,
    SourceLine,
    Span,
)
from scan.extensions.explanations.transactions.failing_steps import FAILING_STEPS, FailingSteps
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import TraceFrame, TransactionTraces
from scan.queries.reader import Reader, Sources
from scan.verification.bytecode_comparison import operand_size
from scan.verification.languages.vyper import VYPER

recorded = recording(__file__)

MAX_LOCATIONS = 20  # of a transaction: around its cause, from there outwards; then the first
TIMEOUT_S = 3.0
NOT_GIVEN_S = 60.0  # after which steps that the node did not give in time are requested again
NOT_GIVEN_BYTES = 256 * 1024
ENTRY_BYTES = 250
MAX_ALIKE = 50  # statements that are looked for in a map

CallPath = tuple[int, ...]  # of a call in the trace


class Location(NamedTuple):
    """A line of a file of the contract at `address`, which is None of a build. `is_exact`: the call
    failed there, else somewhere in the function, of which it is the first line, or in what that
    calls. `is_generated`: a check of the compiler's failed. `is_of_creation`: the contract is
    another one, that the same code created. `is_own`: the call refused by itself, and passed
    nothing on, whatever calls that it made before returned."""

    address: bytes | None
    file: SourceFile
    line: SourceLine
    is_exact: bool
    is_generated: bool
    is_of_creation: bool
    is_own: bool = False

    def record(self) -> dict[str, Any]:
        unknown = {} if self.is_exact else dict.fromkeys(("line", "column", "source"))
        return recorded("location", self) | unknown

    @property
    def anchor(self) -> str:
        """The id of the line on the page of the file."""
        return self.file.anchor(self.line.line)


class FailedCall(NamedTuple):
    """A call that failed: the address of its code, None of a creation; `creation` is its code, with
    constructor arguments. `around` is the call that made it."""

    address: bytes | None
    failure: Failure
    creation: bytes = b""
    around: "FailedCall | None" = None

    @property
    def input(self) -> bytes | None:
        """The input of a call, None of a creation."""
        return None if self.address is None else self.failure.input


def is_around(path: CallPath, cause: CallPath) -> bool:
    """Return whether a call is another one, or around it."""
    return path == cause[: len(path)]


def failed_calls(frames: Iterable[TraceFrame]) -> dict[CallPath, FailedCall]:
    """Return the calls of a trace that failed; of creations those whose code the trace has
    whole."""
    calls: dict[CallPath, FailedCall] = {}
    frames = [*frames]
    last_inside = {frame.trace_address[:-1]: frame for frame in frames if frame.trace_address}
    for frame in frames:
        is_created, inside = is_creation(frame.type), last_inside.get(frame.trace_address)
        kind, returned = (frame.failure.kind, frame.failure.data) if frame.failure else ("", b"")
        inner = None
        if inside and inside.failure and inside.failure.data == returned:
            inner = NEW if is_creation(inside.type) else inside.input[:4].hex()
        given = b"" if is_created else frame.input
        around = calls.get(frame.trace_address[:-1]) if frame.trace_address else None
        is_borrowing = around is not None and frame.type == "DELEGATECALL"
        value = around.failure.value if around and is_borrowing else frame.value
        is_whole = is_created and len(frame.input) == frame.input_size
        calls[frame.trace_address] = FailedCall(
            None if is_created else frame.to_address,
            Failure(kind, returned, value, given, inner),
            frame.input if is_whole else b"",
            around,
        )
    return {
        path: call
        for path, call in calls.items()
        if call.failure.kind and (call.address or call.creation)
    }


def innermost(locations: Mapping[CallPath, Location], cause: CallPath) -> Location | None:
    """Return the line of a call that failed by itself, or where it ended outside of all functions,
    of the innermost call around it that ended in one; of calls around others that refused by
    themselves, as of one whose failure was caught before, the outermost."""
    inwards = [locations[path] for path in sorted(locations, key=len) if is_around(path, cause)]
    if own := next((location for location in inwards if location.is_own), None):
        return own
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
    return mapped_code.has_source_map(sources.database, _addresses(calls), block_number) or bool(
        mapped_code.of_creations(sources, _creations(calls))
    )


def _addresses(calls: Mapping[CallPath, FailedCall]) -> set[bytes]:
    """Return the addresses of calls, and of those that made a creation."""
    creating = (call.around for call in calls.values() if call.address is None and call.around)
    return {call.address for call in (*calls.values(), *creating) if call.address is not None}


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
    addresses = _addresses(calls) - {*replaced}
    contracts = mapped_code.of_contracts(sources.database, addresses, block_number)
    created = mapped_code.of_creations(sources, _creations(calls))
    files = SourceFiles(sources.database)
    located: dict[CallPath, Location] = {}
    for path, call in calls.items():
        if code := contracts.get(call.address or b"") or created.get(path):
            location = _located(call, code, steps[path], files)
        else:
            location = _created_in(path, call, contracts, created, files)
        if location is not None:
            located[path] = location
    return located


def _created_in(
    path: CallPath,
    call: FailedCall,
    contracts: Mapping[bytes, MappedCode],
    created: Mapping[CallPath, MappedCode],
    files: SourceFiles,
) -> Location | None:
    """Return where a creation failed that no source map is known of, by the sources of the contract
    that created it."""
    around = call.around
    if call.address is not None or around is None:
        return None
    mapped = contracts.get(around.address or b"") or created.get(path[:-1])
    run = mapped and mapped.run_by(around.input, is_inside=True)
    if mapped is None or run is None:
        return None
    location = _by_reason(call, mapped, run, None, files)
    return location and location._replace(is_of_creation=False)


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
    """Return where a call failed by its reason and by the last step in a function, else the last
    that is in a source. `files` are those that were read for other calls of the transaction."""
    if not all(step < len(mapped.code) for step in steps):
        return None  # they are of other code
    spans = source_maps.spans_at(mapped.code, mapped.source_map, steps)
    run = mapped.run_by(call.input)
    places = [_place(mapped, span, files, run) for span in reversed(spans)][::-1]
    index = _last_step(places, _origins(mapped.code, steps, spans))
    if call.address is None and steps and mapped.code[steps[-1]] == RETURN:
        index = len(steps) - 1  # the code that it returned was not accepted
    elif run is not None and run.refusals:
        code, last = mapped.code, [*takewhile(lambda step: mapped.code[step] != JUMPI, steps[::-1])]
        failure = call.failure._replace(
            is_literal=_has_words(code, last, call.failure.data),
            is_passed_on=any(code[step] == RETURNDATACOPY for step in last),
        )
        if failure.is_passed_on:
            calls = (at for at in range(len(steps) - 1, -1, -1) if code[steps[at]] in CALLS)
            index = next(calls, index)
        call = call._replace(failure=failure)
        location = _by_reason(call, mapped, run, None if index is None else places[index], files)
        is_own = _is_own(code, steps, places, failure)
        return location and location._replace(is_own=is_own)
    place = None if index is None else places[index]
    if place is None or index is None:
        return None
    is_unproven = _is_merged(mapped) or (run is None and "reached" in mapped.functions)
    if place.function is not None and (is_unproven or _is_contradicted(place, call.failure)):
        return None
    unnamed = (s.file for s in spans[index:] if s and s.file >= 0 and s.file not in mapped.files)
    is_exact = True
    if place.file.path.endswith(VYPER.suffixes):
        place, is_exact = _of_vyper(call.failure, mapped, place, files)
        is_exact = is_exact and not any(True for _ in unnamed)
    is_generated = is_exact and index != len(steps) - 1 and _may_be_added(place, call.failure)
    return _location(call, mapped, place, is_exact=is_exact, is_generated=is_generated)


def _of_vyper(
    failure: Failure, mapped: MappedCode, place: Place, files: SourceFiles
) -> tuple[Place, bool]:
    """Return the statement that refuses with the reason if there is one, else the place of the map,
    and whether that may refuse so."""
    if failure.kind == node_errors.OUT_OF_GAS:
        return place, True
    if not failure.data:
        return place, place.file.text.may_refuse(place.span)
    if failure.data[:4].hex() != ERROR or failure.inner is not None:
        return place, True
    size = int.from_bytes(failure.data[36:68])
    text = failure.data[68:][:size].decode("latin-1")
    numbers = [n for n, path in mapped.files.items() if path.endswith(VYPER.suffixes)]
    listed = [
        Place(span._replace(file=number), file)
        for number in numbers
        if (file := files.file(mapped, number)) is not None
        for span in file.text.refusals_of(text)
    ]
    mapped_to = [at for at in listed if at.has(place)]
    agreeing = mapped_to or listed
    return (agreeing[0], True) if len(agreeing) == 1 else (place, not listed)


def _is_own(
    code: bytes, steps: Sequence[int], places: Sequence[Place | None], failure: Failure
) -> bool:
    """Return whether code that made a call which failed with the same data did not pass that on: it
    has the words itself, or did not copy what the call returned, nor let it be written, as calls in
    assembly may."""
    if failure.inner is None or not failure.data or failure.is_passed_on:
        return False  # of no data nothing is copied
    since = [*takewhile(lambda step: code[step] not in CALLS, steps[::-1])]
    if failure.is_literal or any(code[step] == RETURNDATACOPY for step in since):
        return failure.is_literal
    if len(since) == len(steps):  # the call was long before
        return True
    place = places[-1 - len(since)]
    return place is not None and not place.file.text.is_call(place.span)


def _has_words(code: bytes, steps: Sequence[int], returned: bytes) -> bool:
    """Return whether steps put the selector of an error, or the text, on the stack, also to be
    shifted; not where they copy memory, as a computed text that has these words is."""
    is_text = returned[:4].hex() == ERROR
    words = int.from_bytes(returned[68:100] if is_text else returned[:4])
    operands = (code[step + 1 : step + 1 + operand_size(code, step)] for step in steps)
    numbers = map(int.from_bytes, operands)
    if any(code[step] == MCOPY for step in steps):
        return False
    return words > 0 and any(n and words // (words & -words) == n // (n & -n) for n in numbers)


def _location(
    call: FailedCall,
    mapped: MappedCode,
    place: Place,
    *,
    is_exact: bool = True,
    is_generated: bool = False,
) -> Location | None:
    line = place.file.text.line_at(place.span)
    if line is None:
        return None
    address, is_created = call.address or mapped.verified_address, call.address is None
    return Location(address, place.file, line, is_exact, is_generated, is_of_creation=is_created)


def _by_reason(
    call: FailedCall, mapped: MappedCode, run: RunFunctions, place: Place | None, files: SourceFiles
) -> Location | None:
    """Return the place of the statement that agrees with the reason; of several that at which the
    map has the failure, else the function. `place` is that of the map, None where there is none."""
    listed = [(files.place(mapped, span), of) for span, of in run.agreeing(call.failure)]
    if _is_merged(mapped):
        place = None
    elif place is not None and call.failure.is_literal:  # what is refused may have been made before
        every = run.agreeing(call.failure._replace(is_literal=False))
        listed_all = [(files.place(mapped, span), of) for span, of in every]
        if any(at and at.has(place) for at, of in listed_all if of.refusal.kind == COMPUTED):
            listed = listed_all
    agreeing = [(at, of) for at, of in listed if at is not None]
    mapped_to = [(at, of) for at, of in agreeing if place is not None and at.has(place)]
    lines = {(at.file.path, at.file.text.line_number(at.span)) for at, _ in agreeing}
    is_one = len(lines) == 1 and len(agreeing) == len(listed)  # else a file is not known
    if mapped_to and not is_one and not _are_apart(mapped, agreeing, files):
        mapped_to = []
    if mapped_to or is_one:
        at, of = min(mapped_to or agreeing, key=lambda one: one[0].span.length)
        return _location(call, mapped, at, is_generated=of.is_check)
    is_inside = place is not None and place.function is not None
    if place and is_inside and not listed and not _is_contradicted(place, call.failure):
        return _location(call, mapped, place, is_generated=_may_be_added(place, call.failure))
    functions = {of.function for _, of in listed}
    number = functions.pop() if len(functions) == 1 else run.numbers[0]
    whole = files.place(mapped, run.spans[number])
    if whole is None or whole.function is None:
        return None
    return _location(call, mapped, whole, is_exact=False)


def _is_merged(mapped: MappedCode) -> bool:
    """Return whether the map has some of the places of code alone: with the IR, optimizers inline
    functions and merge what refuses alike."""
    return bool(mapped.functions.get("viaIR") and mapped.functions.get("optimized"))


def _are_apart(
    mapped: MappedCode, agreeing: Sequence[tuple[Place, Candidate]], files: SourceFiles
) -> bool:
    """Return whether a map tells these statements apart. Where an optimizer has not merged them, it
    has of each what stores its words, refuses without any, or calls. With the IR, all that require
    an error share a function, with the place of one of them."""
    if mapped.functions["viaIR"]:
        said = [(at, of.refusal.pattern[:8]) for at, of in agreeing if of.refusal.kind == SAID]
        return not any(at.is_check and words not in ("", ERROR, PANIC) for at, words in said)
    if not mapped.functions["optimized"]:
        return True
    own = files.operations(mapped)

    def has_own(at: Place, refusal: Refusal) -> bool:
        start, length, file, _ = at.span
        operations = {
            COMPUTED: (),
            SAID: (MSTORE,) if refusal.pattern else (REVERT,),
            CALLED: CALLS,
        }
        return any(
            span.file == file and start <= span.start < start + length
            for span, operation in own
            if operation in operations.get(refusal.kind, range(256))
        )

    return len(agreeing) <= MAX_ALIKE and all(has_own(at, of.refusal) for at, of in agreeing)


def _is_contradicted(place: Place, failure: Failure) -> bool:
    """Return whether a place is in a statement that refuses with other words."""
    words = place.file.text.words_at(place.span)
    is_text = failure.data.hex().startswith(ERROR)
    if not words or failure.kind != node_errors.REVERT or b"\\" in words:
        return False
    if words.startswith(b'"'):
        return not is_text or words[1:-1] not in failure.data
    return is_text


def _may_be_added(place: Place, failure: Failure) -> bool:
    """Return whether a check that the compiler added may have failed at a place: these end with a
    panic, of which the first is that of assert(), or with nothing, as a source's own may, too."""
    if failure.kind not in (node_errors.REVERT, "invalid_opcode"):
        return False
    if failure.data.hex().startswith(PANIC):
        return int.from_bytes(failure.data[4:36]) > 1
    own = place.is_check or place.file.text.words_at(place.span)
    return not failure.data and not own


def _place(
    mapped: MappedCode, span: Span | None, files: SourceFiles, run: RunFunctions | None
) -> Place | None:
    """Return where a step is in a source; None in a function that the call did not run."""
    place = None if span is None else files.place(mapped, span)
    return None if place and place.function and run and not run.has(place) else place


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
