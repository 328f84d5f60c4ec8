"""The lines of verified sources in which calls failed.

A line is told by the place that the source map has for the last step in a source, and the text
there: where a statement refuses with the words that were returned, or may fail so. Of statements
alike it is known which one failed where the map has all places of code; else, and where nothing
agrees, only the function is known.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.cached_values import SizedCache
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum import node_errors
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.compiled_sources import mapped_code
from scan.extensions.compiled_sources.mapped_code import MappedCode, Place, SourceFile, SourceFiles
from scan.extensions.compiled_sources.refusing_statements import (
    ASSERTION,
    MAX_ALIKE,
    PANICS,
    Statement,
    called_name,
)
from scan.extensions.compiled_sources.source_maps import (
    CALLS,
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

recorded = recording(__file__)

MAX_LOCATIONS = 20  # of a transaction: around its cause, from there outwards; then the first
TIMEOUT_S = 3.0
NOT_GIVEN_S = 60.0  # after which steps that the node did not give in time are requested again
NOT_GIVEN_BYTES = 256 * 1024
ENTRY_BYTES = 250
ERROR, PANIC = "08c379a0", "4e487b71"
CHECKED = (node_errors.REVERT, "invalid_opcode")  # how checks of the compiler's fail
# Where nothing fails: whole contracts, and literals, as of constants.
CONTRACT, ASSEMBLY = rb"contract\b|abstract\b|[\"'\d]|unicode\"", rb"assembly\b"
CALL = rb"(?:static|delegate)?call(?:code)?\s{0,100}\("  # in assembly
ASSERTED = 1  # the code of the panic that a source's own statement is

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
    is_of_creation: bool
    is_exact: bool = True
    is_generated: bool = False
    is_own: bool = False

    def record(self) -> dict[str, Any]:
        unknown = {} if self.is_exact else dict.fromkeys(("line", "column", "source"))
        return recorded("location", self) | unknown

    @property
    def anchor(self) -> str:
        """The id of the line on the page of the file."""
        return self.file.anchor(self.line.line)


class FailedCall(NamedTuple):
    """A call that failed: the address of its code, None of a creation; how it failed, with the data
    that it returned; its input, None of a creation. `is_repeated`: the last call that it made
    failed with the same data. `creation` is the code of a creation, with constructor arguments."""

    address: bytes | None
    kind: str = ""
    data: bytes = b""
    input: bytes | None = None
    is_repeated: bool = False
    creation: bytes = b""

    @property
    def panic(self) -> int | None:
        """The code of the panic that it returned."""
        is_panic = self.data.hex().startswith(PANIC)
        return int.from_bytes(self.data[4:36]) if is_panic else None


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
        if (failure := frame.failure) is None or not failure.kind:
            continue
        is_created, inside = is_creation(frame.type), last_inside.get(frame.trace_address)
        is_whole = len(frame.input) == frame.input_size
        call = FailedCall(
            None if is_created else frame.to_address,
            failure.kind,
            failure.data,
            None if is_created else frame.input,
            bool(inside and inside.failure and inside.failure.data == failure.data),
            frame.input if is_created and is_whole else b"",
        )
        if call.address or call.creation:
            calls[frame.trace_address] = call
    return calls


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
    steps = partial(_steps, reader, indexed)
    return of_steps(reader.sources, calls, cause, steps, indexed.block_number)


def of_steps(
    sources: Sources,
    calls: Mapping[CallPath, FailedCall],
    cause: CallPath,
    read_steps: Callable[[], FailingSteps],
    block_number: int,
    replaced: Collection[bytes] = (),
) -> dict[CallPath, Location]:
    """Return where calls failed at a block, as read() does, by their last steps, which are read
    only if there are source maps; not where they ran other code than the chain's, at the addresses
    `replaced`."""
    around = [cause[:depth] for depth in range(len(cause), -1, -1)]
    paths = [path for path in dict.fromkeys([*around, *calls]) if path in calls]
    calls = {path: calls[path] for path in paths[:MAX_LOCATIONS]}
    addresses = {call.address for call in calls.values() if call.address} - {*replaced}
    contracts = mapped_code.of_contracts(sources.database, addresses, block_number)
    creations = {path: call.creation for path, call in calls.items() if call.creation}
    created = mapped_code.of_creations(sources, creations)
    steps = read_steps() if contracts or created else {}
    files = SourceFiles(sources.database)
    located: dict[CallPath, Location] = {}
    for path in [path for path in calls if path in steps]:
        code = contracts.get(calls[path].address or b"") or created.get(path)
        if code and (location := _located(calls[path], code, steps[path], files)):
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


def _located(
    call: FailedCall, mapped: MappedCode, steps: Sequence[int], files: SourceFiles
) -> Location | None:
    """Return where a call failed by its reason and by its last steps in a function, else the last
    that is in a source. `files` are those that were read for other calls of the transaction."""
    code, declared = mapped.code, files.declaration(mapped, call.input)
    called = [declared.function.name] if declared and declared.function else None
    names = files.text(mapped).run_by(called or mapped.called_by(call.input))
    if not steps or not all(step < len(code) for step in steps):
        return None  # they are of other code
    spans = [*map(files.spans(mapped).get, steps)]

    def place_of(span: Span | None) -> Place | None:
        """Return where a step is in a source; None in a function that the call did not run:
        optimizers let code that is equal be one, and map it to one of its origins."""
        place = None if span is None else files.place(mapped, span)
        function = place and place.function
        return place if not (function and names) or function.name in names else None

    places = [*map(place_of, spans)]
    if call.address is None and code[steps[-1]] == RETURN:  # what it returned was not accepted
        places, steps = places[-1:], steps[-1:]
    run = _Run(call, mapped, files, names, [*zip(steps, places, strict=True)])
    behind = [*takewhile(lambda place: place is None, places[::-1])]
    unnamed = (s.file for s in spans[len(spans) - len(behind) :] if s and s.file >= 0)
    if mapped.is_vyper and any(number not in mapped.files for number in unnamed):
        return run.in_function(run.last_place())
    location = run.location()
    return location and location._replace(is_own=run.is_own)


class _Run(NamedTuple):
    """A call that failed, with the names of the functions that it may have run, and its last steps
    with their places."""

    call: FailedCall
    mapped: MappedCode
    files: SourceFiles
    names: Collection[str]
    steps: Sequence[tuple[int, Place | None]]

    @property
    def is_merged(self) -> bool:
        """Whether the map has some of the places of code alone: with the IR, optimizers inline
        functions and merge what refuses alike."""
        return self.mapped.is_optimized and self.mapped.is_by_ir

    @property
    def refusals(self) -> Sequence[Statement]:
        return self.files.text(self.mapped).refusals(self.names)

    def last_place(self, operations: Collection[int] = range(256)) -> Place | None:
        """Return the place of the last step with one of these operations that is in a function, or
        else in a source."""
        code = self.mapped.code
        places = [place for step, place in self.steps if place and code[step] in operations]
        is_created = self.call.input is None
        inside = [p for p in places if p.function or (is_created and not p.begins(CONTRACT))]
        *_, last = [None, *(inside or places)]
        return last

    def since(self, operations: Collection[int]) -> list[int]:
        """Return the steps after the last one with one of these operations."""
        backwards = (step for step, _ in self.steps[::-1])
        return [*takewhile(lambda step: self.mapped.code[step] not in operations, backwards)]

    @property
    def is_literal(self) -> bool:
        """Whether the code that refused has the words itself."""
        return _has_words(self.mapped.code, self.since((JUMPI,)), self.call.data)

    def has_copied(self, operation: Collection[int]) -> bool:
        """Return whether since an operation it copied what a call returned."""
        return any(self.mapped.code[step] == RETURNDATACOPY for step in self.since(operation))

    @property
    def is_passed_on(self) -> bool:
        return self.has_copied((JUMPI,)) and (self.call.is_repeated or not self.call.data)

    @property
    def is_own(self) -> bool:
        """Whether it did not pass on what the last call inside returned, the same: it has the words
        itself, or did not copy them, nor let them be written, as calls in assembly may."""
        if not self.call.is_repeated or not self.call.data or self.is_passed_on:
            return False
        if self.is_literal or self.has_copied(CALLS):
            return self.is_literal
        place = self.last_place(CALLS)
        is_long_before = len(self.since(CALLS)) == len(self.steps)
        return is_long_before or (place is not None and not place.begins(CALL))

    def location(self) -> Location | None:
        """Return where it failed."""
        call = self.call
        is_call = self.is_passed_on and not self.mapped.is_vyper
        place = self.last_place(CALLS if is_call else range(256))
        is_initial = call.input is None and not self.mapped.is_optimized
        if place and place.function is None and (is_initial or not self.names):
            return self._at(place.span)
        if not self.names and not self.mapped.is_vyper:
            return None
        is_by_place = self.is_passed_on or not call.data or call.kind != node_errors.REVERT
        span = self._by_place(place) if is_by_place else self._by_words(place)
        if span and Place(span, self.files.of(self.mapped)[span.file]).begins(ASSEMBLY):
            inside = [r.span for r in self.refusals if _is_of(r.span, Statement(span, span.start))]
            span = inside[0] if len(inside) == 1 else None  # with the IR, all of it has its place
        if span is None:
            return self.in_function(place)
        is_written = any(r.span.start == span.start for r in self.refusals)
        if self.mapped.is_vyper:
            is_written = place is self.steps[-1][1]
        is_check = call.kind in CHECKED and (not call.data or call.panic is not None)
        is_generated = is_check and not is_written and not self.is_passed_on
        location = self._at(span)
        return location and location._replace(is_generated=is_generated)

    def _at(self, span: Span) -> Location | None:
        file = self.files.of(self.mapped).get(span.file)
        if file is None or (line := file.text.line_at(span)) is None:
            return None
        address, is_created = self.call.address, self.call.address is None
        return Location(address or self.mapped.verified_address, file, line, is_created)

    def _by_words(self, place: Place | None) -> Span | None:
        """Return the statement that refuses with what was returned."""
        call, words, is_literal = self.call, self._words(), self.is_literal
        computed = [r for r in self.refusals if r.words is None]
        is_open = not is_literal or not self.mapped.is_optimized
        rivals = [r for r in computed if r.is_stored or is_open]
        refusing = None if self.is_merged else self.last_place((REVERT,))
        is_computed = refusing and any(_is_of(refusing.span, r) for r in computed)
        is_alone = not rivals and not is_computed and (is_literal or not call.is_repeated)
        said = [r for r in self.refusals if r.words in words]
        if span := self._one_of(said, (MSTORE,), is_alone=is_alone):
            return span
        if refusing and any(_is_of(refusing.span, r) for r in rivals):
            # The run was in it: not for words that it may have from elsewhere.
            is_other = (said or call.panic is not None) and self.mapped.is_optimized
            is_own = call.is_repeated or is_literal or not is_other
            return self._one_of(rivals, (REVERT,)) if is_own else None
        if said:
            return None
        if call.panic not in PANICS or not self.mapped.is_optimized:
            return self._by_place(place)
        alike = self.files.text(self.mapped).statements(self.names, PANICS[call.panic])
        return self._one_of(alike, range(256), is_alone=is_alone and call.input is not None)

    def _words(self) -> Collection[bytes]:
        """Return how a source writes what was returned."""
        data = self.call.data
        if data.hex().startswith(ERROR):
            return [b'"%s"' % data[68:][: int.from_bytes(data[36:68])]]
        if self.call.panic is not None:
            return [ASSERTION] if self.call.panic == ASSERTED else []
        return [f"{error.name}(".encode() for error in self.mapped.abi.errors.get(data[:4], ())]

    def _by_place(self, place: Place | None) -> Span | None:
        """Return the statement at a place, if nothing contradicts it."""
        if place is None or place.function is None:
            return None
        call, start, is_passed_on = self.call, place.span.start, self.is_passed_on
        if self.mapped.is_vyper and not call.data and call.kind != node_errors.OUT_OF_GAS:
            return place.span if place.file.text.may_refuse(place.span) else None
        at = next((r for r in self.refusals if r.span.start == start), None)
        if at is not None and not is_passed_on and call.kind == node_errors.REVERT:
            bare = [r for r in self.refusals if not r.words]
            return None if call.data or at.words else self._one_of(bare, (REVERT,))
        if not self.mapped.is_optimized:
            return place.span
        if call.data and call.panic is None and not is_passed_on:
            return None
        is_entry = start == place.function.start and place.function.name == next(iter(self.names))
        if (is_entry or call.kind not in CHECKED) and not self.is_merged:
            return place.span
        name = called_name(place.file.text.code[start : start + place.span.length])
        end = rb"\s*[({]" if is_passed_on else rb"(?![\w$])"
        form = rb"(?<!function )(?<![\w$])%s%s" % (re.escape(name), end)
        alike = self.files.text(self.mapped).statements(self.names, form) if name else ()
        operations = CALLS if is_passed_on else range(256)
        return self._one_of(alike, operations, is_alone=is_passed_on)

    def _one_of(
        self, alike: Sequence[Statement], operations: Collection[int], *, is_alone: bool = False
    ) -> Span | None:
        """Return that of statements alike which failed: the only one, if no other may have, or that
        at the place of the map, where the map tells them apart: an optimizer that has not merged
        them has of each the operations that it fails with."""
        if not self.mapped.is_optimized:
            operations = range(256)
        files, place = self.files.of(self.mapped), self.last_place(operations)
        at = [Span(s.at, 0, s.span.file) for s in alike]
        if is_alone and len({(s.file, files[s.file].text.line_number(s)) for s in at}) == 1:
            return at[0]
        found = [n for n, s in enumerate(alike) if place and _is_of(place.span, s)]
        if not found or self.is_merged or len(alike) > MAX_ALIKE:
            return None
        is_error = self.mapped.is_by_ir and (alike[0].words or b"").endswith(b"(")
        required = (files[s.file].text.code.startswith(b"require", s.start) for s in at)
        if len(alike) > 1 and is_error and any(required):
            return None  # with the IR, all that require an error share a function
        at_offsets, code = self.files.spans(self.mapped).items(), self.mapped.code
        own = {(span, code[offset]) for offset, span in at_offsets}
        is_apart = not self.mapped.is_optimized or all(
            any(
                operation in operations
                and _is_of(span, s)
                and (operation != REVERT or span.start == s.at)
                for span, operation in own
            )
            for s in alike
        )
        return at[found[0]] if is_apart else None

    def in_function(self, place: Place | None) -> Location | None:
        """Return the function that the call failed in or ran: that at the place of a map that has
        all places, else the called one, if it is known which that is."""
        is_shared = self.mapped.is_optimized or self.mapped.is_by_ir
        if place is None or place.function is None or is_shared:
            place = self.files.declaration(self.mapped, self.call.input)
        if place is None or place.function is None:
            return None
        location = self._at(place.span._replace(start=place.function.start))
        return location and location._replace(is_exact=False)


def _is_of(span: Span, of: Statement) -> bool:
    """Return whether a span is in a refusal, or in another statement of the operation there."""
    start, length, file = of.span
    if start == of.at:
        return span.file == file and start <= span.start < start + length
    return span.file == file and start <= span.start <= of.at < span.start + span.length


def _has_words(code: bytes, steps: Sequence[int], returned: bytes) -> bool:
    """Return whether steps put the selector of an error, or the text, on the stack, also to be
    shifted; not where they copy memory, as a computed text that has these words is."""
    is_text = returned[:4].hex() == ERROR
    words = int.from_bytes(returned[68:100] if is_text else returned[:4])
    operands = (code[step + 1 : step + 1 + operand_size(code, step)] for step in steps)
    numbers = map(int.from_bytes, operands)
    is_own = words > 0 and all(code[step] != MCOPY for step in steps)
    return is_own and any(n and words // (words & -words) == n // (n & -n) for n in numbers)
