"""Code that compilers have mapped to sources: of contracts at a block, and of creations.

A creation that failed left no contract: its code is that of a verified contract which the same code
has created, apart from constructor arguments, or else of a build of the operator's.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from scan.contracts.abi_decoding import index_abi
from scan.database.connection import Database
from scan.extensions.compiled_sources import (
    compiler_layouts,
    creation_codes,
    refusing_statements,
    source_maps,
)
from scan.extensions.compiled_sources.refusing_statements import Candidate, Failure
from scan.extensions.compiled_sources.source_maps import SourceFunction, SourceText, Span
from scan.pages.formatting import file_anchor
from scan.queries.reader import Sources
from scan.verification.languages.vyper import VYPER

MAX_CREATIONS = 20  # of a transaction that are searched for
MAX_FILES = 20  # read for a transaction
DEFAULT = "__default__"  # Vyper's function for calls of no other
MAX_SOURCE_BYTES = 1024 * 1024  # after which no further file is read: a megabyte takes 0.2 s

Key = TypeVar("Key", bound=Hashable)


class MappedCode(NamedTuple):
    """Code with its source map, and the verification that they are of: the address, and the hash of
    its runtime code. `files` are paths by their numbers in the map. Of a build there is no address;
    the hash is another one, and `texts` are its sources by their paths. `functions` are those that
    calls may run, as compiler_layouts.py has them, where they are known; of Vyper there are only
    the `selectors`, by which Vyper's default function is not run."""

    code: bytes
    verified_address: bytes | None
    code_hash: bytes
    source_map: str
    files: Mapping[int, str]
    texts: Mapping[str, str] | None = None
    functions: Mapping[str, Any] = {}
    selectors: Collection[bytes] = ()

    def run_by(self, call_data: bytes | None, *, is_inside: bool = False) -> "RunFunctions | None":
        """Return the functions that a call may run, or of None the creation; None where they are
        not known. `is_inside`: those of creations by this call instead."""
        if call_data is not None and call_data[:4] in self.selectors:
            return RunFunctions((), {}, (), ())
        reached = self.functions.get("reached") or {}
        keys: tuple[str, ...] = (compiler_layouts.CREATED,)
        if call_data is not None:
            without = compiler_layouts.WITHOUT_SELECTOR[1 if call_data else 0 :]
            keys = (call_data[:4].hex(), *without)
        key = next((key for key in keys if key in reached), "")
        numbers = reached.get(f"{compiler_layouts.CREATED} {key}" if is_inside else key)
        if not numbers:
            return None
        by_path = {path: number for number, path in self.files.items()}
        listed = self.functions["spans"]
        spans = {
            n: Span(listed[n][1], listed[n][2], by_path.get(listed[n][0], -1)) for n in numbers
        }
        in_files = sorted((s.file, s.start, s.start + s.length) for s in spans.values())
        return RunFunctions(numbers, spans, in_files, self.functions.get("refusals") or ())


class RunFunctions(NamedTuple):
    """The numbers of the functions that a call may run, the called one first, with their places;
    the files, starts and ends of these in order; the statements that may refuse of all functions.
    Empty of Vyper, where a call may run any function but the default one."""

    numbers: Sequence[int]
    spans: Mapping[int, Span]
    in_files: Sequence[tuple[int, int, int]]
    refusals: Sequence[Sequence[Sequence[Any]]]

    @property
    def called(self) -> Span | None:
        return self.spans[self.numbers[0]] if self.numbers else None

    def has(self, place: "Place") -> bool:
        """Return whether a place is in what may be run: optimizers let code that is equal be one,
        and map it to one of its origins."""
        span, function = place.span, place.function
        if not self.numbers:
            return function is not None and function.name != DEFAULT
        before = bisect_right(self.in_files, (span.file, span.start, math.inf)) - 1
        file, _, end = self.in_files[before]
        return before >= 0 and file == span.file and span.start < end

    def agreeing(self, failure: Failure) -> list[tuple[Span, Candidate]]:
        """Return the places of the statements that may have refused so."""
        candidates = refusing_statements.agreeing(self.refusals, self.numbers, failure)
        return [
            (Span(c.refusal.start, c.refusal.length, self.spans[c.function].file), c)
            for c in candidates
        ]


class BuiltCreations:
    """Creations that builds of the operator's have; without an extension, none."""

    def find(self, creation: bytes, search_hashes: Iterable[bytes]) -> MappedCode | None:
        """Return the code of a creation by the build that has it; `search_hashes` are those of the
        creation."""
        return None


class SourceFile(NamedTuple):
    """A file of a verified contract. `number` is its place among the contract's, its own first."""

    path: str
    number: int
    text: SourceText

    def anchor(self, line: int) -> str:
        """Return the id of a line on the page of the file."""
        return f"{file_anchor(self.number)}L{line}"


class Place(NamedTuple):
    """Where a step is in a source. It is of no function where the code is the compiler's, such as
    the choice of a function, which is mapped to a whole contract or file."""

    span: Span
    file: SourceFile

    @property
    def function(self) -> SourceFunction | None:
        return self.file.text.function_at(self.span)

    @property
    def is_check(self) -> bool:
        return self.file.text.is_check(self.span)

    def has(self, place: "Place") -> bool:
        """Return whether another place begins within this one."""
        start, length, *_ = self.span
        return self.file == place.file and start <= place.span.start < start + length


class SourceFiles:
    """The files that are read for one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._files: dict[tuple[bytes | None, bytes, int], SourceFile | None] = {}
        self._operations: dict[int, Collection[tuple[Span, int]]] = {}

    def place(self, mapped: MappedCode, span: Span) -> Place | None:
        """Return where a span is; None of what is no source, or of one file too many, or a
        variable of Vyper that has the place of another use."""
        file = self.file(mapped, span.file) if span.start >= 0 else None
        return None if file is None or file.text.is_shared(span) else Place(span, file)

    def file(self, mapped: MappedCode, number: int) -> SourceFile | None:
        """Return a file by its number in a source map; None of what is no source, or one file too
        many."""
        if number not in mapped.files:
            return None
        key = mapped.verified_address, mapped.code_hash, number
        if key not in self._files:
            size = sum(file.text.size for file in self._files.values() if file is not None)
            if len(self._files) == MAX_FILES or size > MAX_SOURCE_BYTES:
                return None
            self._files[key] = self._read(mapped, mapped.files[number])
        return self._files[key]

    def operations(self, mapped: MappedCode) -> Collection[tuple[Span, int]]:
        """Return the spans in a map with the operations that they have."""
        key = id(mapped)
        if key not in self._operations:
            offsets = [*source_maps.offsets_in(mapped.code)]
            spans = source_maps.spans_at(mapped.code, mapped.source_map, offsets)
            listed = zip(offsets, spans, strict=True)
            self._operations[key] = {(span, mapped.code[at]) for at, span in listed if span}
        return self._operations[key]

    def _read(self, mapped: MappedCode, path: str) -> SourceFile | None:
        """Return a file. A single one may have been submitted by another path than the compiler's
        metadata has."""
        if mapped.texts is not None:
            text = mapped.texts.get(path)
            return None if text is None else SourceFile(path, 0, source_text(text, path))
        of_code = {"address": mapped.verified_address, "code_hash": mapped.code_hash}
        row = self._database.row("contracts/verified_contracts_get_file", path=path, **of_code)
        content, main_path, paths = row or (None, None, ())
        if content is None and len(paths) == 1:
            [path] = paths
            row = self._database.row("contracts/verified_contracts_get_file", path=path, **of_code)
            content, main_path, paths = row or (None, None, ())
        if content is None:
            return None
        in_order = sorted(paths, key=lambda other: (other != main_path, other))
        return SourceFile(path, in_order.index(path), source_text(content, path))


def source_text(content: str, path: str) -> SourceText:
    return SourceText(content, is_vyper=path.endswith(VYPER.suffixes))


def has_source_map(database: Database, addresses: Iterable[bytes], block_number: int) -> bool:
    """Return whether the code of any of these contracts at a block has a source map."""
    at = {"addresses": sorted({*addresses}), "block_number": block_number}
    return bool(at["addresses"] and database.value("contracts/compiled_sources_exist", **at))


def of_contracts(
    database: Database, addresses: set[bytes], block_number: int
) -> dict[bytes, MappedCode]:
    """Return the code of contracts at a block, of those that have a source map."""
    if not addresses:
        return {}
    rows = database.rows(
        "contracts/compiled_sources_find_maps",
        addresses=sorted(addresses),
        block_number=block_number,
    )
    return {
        bytes(address): MappedCode(
            bytes(code),
            bytes(verified),
            bytes(code_hash),
            source_maps.unpacked(bytes(source_map)),
            dict(files),
            functions=compiler_layouts.stored_object(functions),
            selectors=index_abi(abi or ()).functions.keys(),
        )
        for address, code, verified, code_hash, source_map, files, functions, abi in rows
    }


def of_creations(sources: Sources, creations: Mapping[Key, bytes]) -> dict[Key, MappedCode]:
    """Return the code of creations, without their arguments, of those that have also created a
    verified contract, or that a build has; of the first MAX_CREATIONS."""
    hashes = {
        key: creation_codes.search_hashes(creation)
        for key, creation in islice(creations.items(), MAX_CREATIONS)
    }
    searched = [search_hash for search_hashes in hashes.values() for search_hash in search_hashes]
    # By the search hash: size, masked hash and links of codes, verified address and code hash.
    stored: defaultdict[bytes, list[Sequence[Any]]] = defaultdict(list)
    database, builds = sources.database, sources.get(BuiltCreations)
    rows = (
        database.rows("contracts/compiled_sources_find_creations", search_hashes=searched)
        if searched
        else ()
    )
    for search_hash, size, masked_hash, *others in rows:
        stored[bytes(search_hash)].append((size, bytes(masked_hash), *others))
    mapped: dict[Key, MappedCode] = {}
    comparison = creation_codes.CreationComparison()
    for key, search_hashes in hashes.items():
        creation = creations[key]
        codes = (row for search_hash in search_hashes for row in stored[search_hash])
        equal = (row for row in codes if comparison.is_in(creation, *row[:3]))
        if (created := next(equal, None)) is not None:
            address, code_hash = map(bytes, created[3:])
            of_code = {"address": address, "code_hash": code_hash}
            # Nothing where it has just been forgotten.
            row = database.row("contracts/compiled_sources_get_creation", **of_code)
            source_map, files, functions = row or (b"", (), None)
            text = source_maps.unpacked(bytes(source_map))
            mapped[key] = MappedCode(
                creation[: created[0]],
                address,
                code_hash,
                text,
                dict(files),
                functions=compiler_layouts.stored_object(functions),
            )
        elif (built := builds.find(creation, search_hashes)) is not None:
            mapped[key] = built
    return mapped
