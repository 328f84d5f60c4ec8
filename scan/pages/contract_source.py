"""The data of an address's contract tab: sources, ABI, view functions, proxy."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, parse_types, signature
from scan.contracts.proxy_contracts import Proxy
from scan.errors import NotFound
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.formatting import visible_lines
from scan.queries import contracts
from scan.queries.contracts import Contract

MAX_SHOWN_FUNCTIONS = 300
SHOWN = frozenset({"code", "settings", "abi", "sources"})
LONGEST_SIGNATURE = 500  # the limit of the API's functionName
# For all files in total: a page with a source of 300,000 lines took 0.9 s.
MAX_SHOWN_LINES = 5_000
MAX_SHOWN_CHARACTERS = 250_000


class Input(NamedTuple):
    name: str
    type: str


class Function(NamedTuple):
    """A view or pure function; `outputs` are its return types."""

    signature: str
    inputs: Sequence[Input]
    outputs: str


class SourceFile(NamedTuple):
    """`lines` are the first ones of `line_count`."""

    path: str
    lines: Sequence[str]
    line_count: int


class ShownContract(NamedTuple):
    """`verified` is None if the code is not verified; `implementation` is a proxy's."""

    has_code: bool
    code_size: int = 0
    verified: Contract | None = None
    abi: Sequence[Any] = ()
    settings: Any = None
    files: Sequence[SourceFile] = ()
    functions: Sequence[Function] = ()
    proxy_kind: str | None = None
    implementation: str | None = None
    implementation_functions: Sequence[Function] = ()

    @property
    def verifier(self) -> str | None:
        """Another address with the same code, for which the sources were verified."""
        return (
            to_hex(bytes(self.verified.verifier))
            if self.verified and self.verified.verifier
            else None
        )

    @property
    def constructor_arguments(self) -> str:
        return bytes(self.verified.constructor_arguments or b"").hex() if self.verified else ""


def read_contract(address: bytes) -> ShownContract:
    contract, lookup = contracts.get_with_proxy(reader(), address, SHOWN)
    if not contract.code:
        return ShownContract(has_code=False)
    proxy = lookup.proxy
    abi = json.loads(contract.abi or "[]")
    return ShownContract(
        has_code=True,
        code_size=len(contract.code),
        verified=contract if contract.is_verified else None,
        abi=abi,
        settings=json.loads(contract.settings or "{}"),
        files=_files(contract),
        functions=_functions(abi),
        proxy_kind=proxy.kind if proxy else None,
        implementation=to_hex(proxy.implementation) if proxy else None,
        implementation_functions=_functions(_implementation_abi(proxy)),
    )


def _implementation_abi(proxy: Proxy | None) -> list[Any]:
    """Empty for a clone, whose own functions are those of its implementation."""
    if proxy is None or proxy.kind == "eip1167":
        return []
    implementation = contracts.get(reader(), proxy.implementation, {"abi"})
    return list(json.loads(implementation.abi or "[]"))


def read_source_file(address: bytes, path: str) -> str:
    """A complete source file; raises NotFound."""
    reader().do_not_cache()  # large files would evict everything else
    contract, _ = contracts.get_with_proxy(reader(), address, {"sources"})
    sources = json.loads(contract.sources or "{}")
    if path not in sources:
        raise NotFound("No verified contract at this address has this file.")
    return str(sources[path]["content"])


def _files(contract: Contract) -> list[SourceFile]:
    """The contract's file first; in total limited to what a page shows."""
    sources = json.loads(contract.sources or "{}")
    files = []
    lines_left, characters_left = MAX_SHOWN_LINES, MAX_SHOWN_CHARACTERS
    for path in sorted(sources, key=lambda path: (path != contract.path, path)):
        content = str(sources[path]["content"])
        first = content[:characters_left].split("\n", lines_left)[:lines_left]
        lines = visible_lines("\n".join(first)) if characters_left and first else []
        lines_left -= len(lines)
        characters_left -= min(len(content), characters_left)
        files.append(SourceFile(path, lines, content.count("\n") + 1))
    return files


def _functions(abi: Sequence[Any]) -> list[Function]:
    """Its view and pure functions, in the ABI's order."""
    functions = [
        _function(entry)
        for entry in abi
        if entry.get("type") == "function" and entry.get("stateMutability") in ("view", "pure")
    ]
    return [function for function in functions if function is not None][:MAX_SHOWN_FUNCTIONS]


def _function(entry: Any) -> Function | None:
    """None for a function with unsupported types."""
    try:
        types = parse_types(entry["inputs"])
        outputs = parse_types(entry["outputs"])
    except (AbiError, KeyError):
        return None
    text = signature(str(entry["name"]), types)
    inputs = [
        Input(str(parameter.get("name") or ""), abi_type.name)
        for parameter, abi_type in zip(entry["inputs"], types, strict=True)
    ]
    returns = ", ".join(output.name for output in outputs)
    return Function(text, inputs, returns) if len(text) <= LONGEST_SIGNATURE else None
