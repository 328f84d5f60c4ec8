"""The data of an address's contract tab: sources, ABI, view functions, proxy."""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError
from scan.contracts.abi_decoding import Argument
from scan.contracts.calldata_encoding import READ_ONLY, constructor_values, function_of
from scan.contracts.proxy_contracts import Proxy
from scan.errors import HistoryUnavailable, NotFound, Unavailable, UpstreamFailed
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.formatting import visible_lines
from scan.queries import bytecode, contract_claims, contract_values, contracts
from scan.queries.contract_values import ContractValues
from scan.queries.contracts import Contract
from scan.verification.contract_match import FULL, RUNTIME

MAX_SHOWN_FUNCTIONS = 300  # that read, and as many that write
MAX_FUNCTIONS = 2000  # of an ABI, to choose them from
SHOWN = frozenset({"code", "settings", "abi", "sources"})
LONGEST_SIGNATURE = 500  # the limit of the API's functionName
# For all files in total: a page with a source of 300,000 lines took 0.9 s.
MAX_SHOWN_LINES = 5_000
MAX_FOLDERS = 8  # within each other; what is deeper is part of the name
MAX_SHOWN_CHARACTERS = 250_000


class Input(NamedTuple):
    name: str
    type: str


class Function(NamedTuple):
    """A function of an ABI; `outputs` are its return types, with their names."""

    signature: str
    inputs: Sequence[Input]
    outputs: str
    mutability: str

    @property
    def is_read_only(self) -> bool:
        return self.mutability in READ_ONLY

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]


class SourceFile(NamedTuple):
    """A source file as a page shows it: `lines` are the first ones of `line_count`; `anchor`
    begins the ids of its lines."""

    anchor: str
    path: str
    lines: Sequence[str]
    line_count: int


class Folder(NamedTuple):
    """A folder of sources: `files` with the last part of their paths."""

    folders: dict[str, "Folder"]
    files: list[tuple[str, SourceFile]]

    def add(self, segments: Sequence[str], file: SourceFile) -> None:
        if len(segments) == 1:
            self.files.append((segments[0], file))
        else:
            self.folders.setdefault(segments[0], Folder({}, [])).add(segments[1:], file)


class ShownContract(NamedTuple):
    """A contract as its tab shows it: `verified` is None if the code is not verified;
    `implementations` are a proxy's."""

    has_code: bool
    code_size: int = 0
    verified: Contract | None = None
    abi: Sequence[Any] = ()
    settings: Any = None
    files: Sequence[SourceFile] = ()
    functions: Sequence[Function] = ()
    proxy_kind: str | None = None
    implementations: Sequence[str] = ()
    implementation_functions: Sequence[Function] = ()
    values: ContractValues | None = None
    constructor: Sequence[Argument] | None = None
    similar_to: str | None = None
    claims: Sequence[Mapping[str, Any]] = ()

    @property
    def can_match_better(self) -> bool:
        """Return whether another source may replace what is known: not that of a full match which
        includes the creation code, and not that of another address with the same code."""
        if self.verified is None or self.verified.match == RUNTIME:
            return self.has_code
        is_full = self.verified.match == FULL and self.verified.creation_match is not None
        return self.verified.verifier is None and not is_full

    @property
    def addresses(self) -> Sequence[str | None]:
        """Return the addresses that the page shows by their names."""
        values = [
            value.result
            for value in (self.values.values if self.values else ())
            if [output.type for output in value.outputs] == ["address"] and value.result
        ]
        return [*self.implementations, self.verifier, self.similar_to, *values]

    @property
    def file_tree(self) -> "Folder":
        """Return the folders of the sources; empty for a single file."""
        tree = Folder({}, [])
        for file in self.files if len(self.files) > 1 else ():
            tree.add(file.path.split("/", MAX_FOLDERS), file)
        return tree

    @property
    def read_functions(self) -> Sequence[Function]:
        """Return the functions that only read; those without arguments are shown with their
        values, where there are any."""
        return _shown(self.functions, read_only=True)

    @property
    def write_functions(self) -> Sequence[Function]:
        return _shown(self.functions, read_only=False)

    @property
    def implementation_read_functions(self) -> Sequence[Function]:
        return _shown(self.implementation_functions, read_only=True)

    @property
    def implementation_write_functions(self) -> Sequence[Function]:
        return _shown(self.implementation_functions, read_only=False)

    @property
    def verifier(self) -> str | None:
        """Return another address with the same code, for which the sources were verified."""
        return (
            to_hex(bytes(self.verified.verifier))
            if self.verified and self.verified.verifier
            else None
        )

    @property
    def constructor_arguments(self) -> str:
        return bytes(self.verified.constructor_arguments or b"").hex() if self.verified else ""


def read_contract(address: bytes, *, with_values: bool = False) -> ShownContract:
    contract, lookup = contracts.get_with_proxy(reader(), address, SHOWN)
    if not contract.code:
        return ShownContract(has_code=False)
    proxy = lookup.proxy
    abi = json.loads(contract.abi or "[]")
    abis = contract_values.implementation_abis(reader(), proxy)
    implementation_abi = [entry for entries in abis for entry in entries]
    arguments, similar = contract.constructor_arguments, None
    claims: Sequence[Mapping[str, Any]] = ()
    if not contract.is_verified:
        similar = bytecode.similar_to(reader(), bytes(contract.code))
        claims = contract_claims.of(reader(), address)
    return ShownContract(
        has_code=True,
        code_size=len(contract.code),
        verified=contract if contract.is_verified else None,
        abi=abi,
        settings=json.loads(contract.settings or "{}"),
        files=_files(contract),
        functions=_functions(abi),
        proxy_kind=proxy.kind if proxy else None,
        implementations=[*map(to_hex, proxy.implementations)] if proxy else [],
        implementation_functions=_functions(implementation_abi),
        values=_values(address, [abi, implementation_abi], proxy) if with_values else None,
        constructor=None if arguments is None else constructor_values(abi, bytes(arguments)),
        similar_to=to_hex(similar) if similar else None,
        claims=claims,
    )


def _values(address: bytes, abis: Sequence[Any], proxy: Proxy | None) -> ContractValues | None:
    """Return the values of functions without arguments, None where the node does not say: each
    function can still be called by its form."""
    try:
        return contract_values.of(reader(), address, abis, proxy)
    except (UpstreamFailed, Unavailable, HistoryUnavailable, NotFound):
        reader().do_not_cache()
        return None


def _shown(functions: Sequence[Function], *, read_only: bool) -> Sequence[Function]:
    chosen = [function for function in functions if function.is_read_only == read_only]
    return chosen[:MAX_SHOWN_FUNCTIONS]


def read_source_file(address: bytes, path: str) -> str:
    """Return a complete source file; raises NotFound."""
    reader().do_not_cache()  # large files would evict everything else
    contract, _ = contracts.get_with_proxy(reader(), address, {"sources"})
    sources = json.loads(contract.sources or "{}")
    if path not in sources:
        raise NotFound("No verified contract at this address has this file.")
    return str(sources[path]["content"])


def _files(contract: Contract) -> list[SourceFile]:
    """Return the source files, the contract's own first, in total limited to what a page shows."""
    sources = json.loads(contract.sources or "{}")
    files: list[SourceFile] = []
    lines_left, characters_left = MAX_SHOWN_LINES, MAX_SHOWN_CHARACTERS
    for path in sorted(sources, key=lambda path: (path != contract.path, path)):
        content = str(sources[path]["content"])
        first = content[:characters_left].split("\n", lines_left)[:lines_left]
        lines = visible_lines("\n".join(first)) if characters_left and first else []
        lines_left -= len(lines)
        characters_left -= min(len(content), characters_left)
        # The first file has #L12 and the others #F2-L12, as one page has them all.
        anchor = f"F{len(files) + 1}-" if files else ""
        files.append(SourceFile(anchor, path, lines, content.count("\n") + 1))
    return files


def _functions(abi: Sequence[Any]) -> list[Function]:
    """Return the functions that a form can call, in the ABI's order."""
    entries = (entry for entry in abi if entry.get("type") == "function")
    functions = map(_function, islice(entries, MAX_FUNCTIONS))
    return [function for function in functions if function is not None]


def _function(entry: dict[str, Any]) -> Function | None:
    try:
        function = function_of(entry)
    except AbiError:
        return None
    if len(function.signature) > LONGEST_SIGNATURE:
        return None
    names = [str(parameter.get("name") or "") for parameter in entry.get("inputs", [])]
    outputs = (str(output.get("name") or "") for output in entry.get("outputs", []))
    returned = (
        f"{output.name} {name}".strip()
        for output, name in zip(function.outputs, outputs, strict=True)
    )
    types = (input.name for input in function.inputs)
    return Function(
        function.signature, [*map(Input, names, types)], ", ".join(returned), function.mutability
    )
