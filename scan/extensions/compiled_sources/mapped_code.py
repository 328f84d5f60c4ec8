"""Code that compilers have mapped to sources: of contracts at a block, and of creations.

A creation that failed left no contract: its code is that of a verified contract which the same code
has created, apart from constructor arguments, or else of a build of the operator's.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from scan.contracts.abi_decoding import AbiIndex, index_abi
from scan.database.connection import Database
from scan.extensions.compiled_sources import creation_codes, source_maps
from scan.extensions.compiled_sources.compiler_layouts import WITHOUT_SELECTOR, stored_object
from scan.extensions.compiled_sources.refusing_statements import CONSTRUCTOR, ContractText
from scan.extensions.compiled_sources.source_maps import SourceFunction, SourceText, Span
from scan.pages.formatting import file_anchor
from scan.queries.reader import Sources
from scan.verification.languages.vyper import VYPER

MAX_CREATIONS = 20  # of a transaction that are searched for
MAX_SOURCE_BYTES = 2 * 1024 * 1024  # for a transaction: a megabyte takes 0.2 s

Key = TypeVar("Key", bound=Hashable)


class MappedCode(NamedTuple):
    """Code with its source map and ABI, and the verification that they are of: the address, and the
    hash of its runtime code. `files` are paths by their numbers in the map. Of a build there is no
    address; the hash is another one, and `texts` are its sources by their paths. `is_optimized` and
    `is_by_ir` say how it was compiled, `functions` where those are that calls run, by selector, and
    `others` where its files have contracts that are no part of it."""

    code: bytes
    verified_address: bytes | None
    code_hash: bytes
    source_map: str
    files: Mapping[int, str]
    texts: Mapping[str, str] | None = None
    abi: AbiIndex = index_abi(())
    is_optimized: bool = True
    is_by_ir: bool = False
    functions: Mapping[str, Any] = {}
    others: Sequence[Sequence[Any]] = ()

    @property
    def is_vyper(self) -> bool:
        return any(path.endswith(VYPER.suffixes) for path in self.files.values())

    def called_by(self, call_data: bytes | None) -> Sequence[str]:
        """Return the names of the functions that a call may be of, or of None a creation, of which
        the first that is there runs."""
        if call_data is None:
            return (CONSTRUCTOR,)
        named = [entry.name for entry in self.abi.functions.get(call_data[:4], ())]
        return named or WITHOUT_SELECTOR[1 if call_data else 0 :]


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

    def begins(self, form: bytes) -> bool:
        """Return whether its text begins with a form."""
        encoded = self.file.text.encoded
        return re.compile(form).match(encoded, self.span.start) is not None


class SourceFiles:
    """The files that are read for one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._left = MAX_SOURCE_BYTES
        self._files: dict[tuple[bytes | None, bytes], Mapping[int, SourceFile]] = {}
        self._texts: dict[int, ContractText] = {}
        self._spans: dict[int, Mapping[int, Span]] = {}

    def place(self, mapped: MappedCode, span: Span) -> Place | None:
        """Return where a span is; None of what is no source, or of sources that are too large, or a
        variable of Vyper that has the place of another use."""
        file = self.of(mapped).get(span.file) if span.start >= 0 else None
        return None if file is None or file.text.is_shared(span) else Place(span, file)

    def of(self, mapped: MappedCode) -> Mapping[int, SourceFile]:
        """Return the files of a contract by their numbers in its source map; none of those that are
        too large."""
        key = mapped.verified_address, mapped.code_hash
        if key not in self._files:
            self._files[key] = self._read(mapped)
        return self._files[key]

    def declaration(self, mapped: MappedCode, call_data: bytes | None) -> Place | None:
        """Return where the function is declared that a call runs, if that is known."""
        keys = ((call_data or b"")[:4].hex(), *mapped.called_by(call_data))
        path, start = next((mapped.functions[k] for k in keys if k in mapped.functions), ("", 0))
        number = next((n for n, of in mapped.files.items() if of == path), -1)
        return self.place(mapped, Span(start, 0, number))

    def text(self, mapped: MappedCode) -> ContractText:
        """Return the text of a contract's files together."""
        files = self.of(mapped)
        if id(files) not in self._texts:
            texts = {number: file.text for number, file in files.items()}
            numbers = {path: number for number, path in mapped.files.items()}
            others = [Span(at, size, numbers.get(path, -1)) for path, at, size in mapped.others]
            self._texts[id(files)] = ContractText(texts, others)
        return self._texts[id(files)]

    def spans(self, mapped: MappedCode) -> Mapping[int, Span]:
        """Return the spans of code by its offsets."""
        if id(mapped) not in self._spans:
            self._spans[id(mapped)] = source_maps.spans_at(mapped.code, mapped.source_map)
        return self._spans[id(mapped)]

    def _read(self, mapped: MappedCode) -> Mapping[int, SourceFile]:
        """Return the files. A single one may have been submitted by another path than the
        compiler's metadata has."""
        texts, main_path = mapped.texts, None
        if texts is None:
            of_code = {"address": mapped.verified_address, "code_hash": mapped.code_hash}
            row = self._database.row("contracts/verified_contracts_get_sources", **of_code)
            sources, main_path = row or ({}, None)
            texts = {path: str(source["content"]) for path, source in sources.items()}
        in_order = sorted(texts, key=lambda path: (path != main_path, path))
        paths = {n: path for n, path in mapped.files.items() if path in texts}
        if len(texts) == len(mapped.files) == 1:
            paths = dict.fromkeys(mapped.files, in_order[0])
        self._left -= (size := sum(len(texts[path]) for path in paths.values()))
        if self._left < 0:
            self._left += size
            return {}
        return {
            n: SourceFile(path, in_order.index(path), source_text(texts[path], path))
            for n, path in paths.items()
        }


def source_text(content: str, path: str) -> SourceText:
    return SourceText(content, is_vyper=path.endswith(VYPER.suffixes))


def of_contracts(
    database: Database, addresses: set[bytes], block_number: int
) -> dict[bytes, MappedCode]:
    """Return the code of contracts at a block, of those that have a source map."""
    rows = database.rows(
        "contracts/compiled_sources_find_maps",
        addresses=sorted(addresses),
        block_number=block_number,
    )
    return {
        bytes(address): _mapped(bytes(code), bytes(verified), bytes(code_hash), found)
        for address, code, verified, code_hash, *found in rows
    }


def _mapped(code: bytes, address: bytes, code_hash: bytes, found: Sequence[Any]) -> MappedCode:
    """Return code with what is stored of it."""
    source_map, files, abi, settings, functions = found
    optimizer, findings = settings.get("optimizer") or {}, stored_object(functions)
    return MappedCode(
        code,
        address,
        code_hash,
        source_maps.unpacked(bytes(source_map)),
        dict(files),
        abi=index_abi(abi),
        is_optimized=bool(optimizer.get("enabled") or optimizer.get("details")),
        is_by_ir=bool(settings.get("viaIR")),
        functions=findings.get("called") or {},
        others=findings.get("others") or (),
    )


def of_creations(sources: Sources, creations: Mapping[Key, bytes]) -> dict[Key, MappedCode]:
    """Return the code of creations, without their arguments, of those that have also created a
    verified contract, or that a build has; of the first MAX_CREATIONS."""
    hashes = {
        key: creation_codes.search_hashes(creation)
        for key, creation in islice(creations.items(), MAX_CREATIONS)
    }
    # By the search hash: size, masked hash and links of codes, verified address and code hash, and
    # whether its sources are those of the creation.
    stored: defaultdict[bytes, list[Sequence[Any]]] = defaultdict(list)
    database, builds = sources.database, sources.get(BuiltCreations)
    searched = [search_hash for search_hashes in hashes.values() for search_hash in search_hashes]
    rows = searched and database.rows(
        "contracts/compiled_sources_find_creations",
        search_hashes=searched,
        metadata_hashes=[creation_codes.metadata_hash(creations[key]) for key in hashes],
    )
    for search_hash, size, masked_hash, *others in rows:
        stored[bytes(search_hash)].append((size, bytes(masked_hash), *others))
    mapped: dict[Key, MappedCode] = {}
    comparison = creation_codes.CreationComparison()
    for key, search_hashes in hashes.items():
        creation = creations[key]
        codes = (row for search_hash in search_hashes for row in stored[search_hash])
        created = next((row for row in codes if comparison.is_in(creation, *row[:3])), None)
        built = None if created and created[5] else builds.find(creation, search_hashes)
        if built is not None:
            mapped[key] = built
        elif created is not None:
            address, code_hash = map(bytes, created[3:5])
            of_code = {"address": address, "code_hash": code_hash}
            row = database.row("contracts/compiled_sources_get_creation", **of_code)
            if row is not None:  # it has not just been forgotten
                mapped[key] = _mapped(creation[: created[0]], address, code_hash, row)
    return mapped
