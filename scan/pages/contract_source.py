"""What is verified about the contract at an address, for its tab: sources, ABI, view functions."""

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
LONGEST_SIGNATURE = 500  # as the API's functionName
# Of all files together: a source of 300,000 lines took 0.9 s a page.
MAX_SHOWN_LINES = 5_000
MAX_SHOWN_CHARACTERS = 250_000


class Input(NamedTuple):
    name: str
    type: str


class Function(NamedTuple):
    """A view or pure function; `outputs` are the types it returns."""

    signature: str
    inputs: Sequence[Input]
    outputs: str


class SourceFile(NamedTuple):
    """`lines` are the first of `line_count`."""

    path: str
    lines: Sequence[str]
    line_count: int


class ShownContract(NamedTuple):
    """`verified` is None where its code is not verified; `implementation` is a proxy's."""

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
        """Another address with the same code, by whose verification it is known."""
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
    """Of a proxy that keeps its own ABI; a clone shows its implementation's as its own."""
    if proxy is None or proxy.kind == "eip1167":
        return []
    implementation = contracts.get(reader(), proxy.implementation, {"abi"})
    return list(json.loads(implementation.abi or "[]"))


def read_source_file(address: bytes, path: str) -> str:
    """The whole of a file that read_contract() shows; raises NotFound."""
    reader().do_not_cache()  # the largest would push everything else out
    contract, _ = contracts.get_with_proxy(reader(), address, {"sources"})
    sources = json.loads(contract.sources or "{}")
    if path not in sources:
        raise NotFound("There is no such file of a verified contract.")
    return str(sources[path]["content"])


def _files(contract: Contract) -> list[SourceFile]:
    """The file of the contract first; as much of them all as a page shows."""
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
    functions = [_function(entry) for entry in abi if _is_readable(entry)]
    return [function for function in functions if function is not None][:MAX_SHOWN_FUNCTIONS]


def _is_readable(entry: Any) -> bool:
    return entry.get("type") == "function" and entry.get("stateMutability") in ("view", "pure")


def _function(entry: Any) -> Function | None:
    """None for one with types that cannot be asked for."""
    try:
        types = parse_types(entry["inputs"])
        outputs = parse_types(entry["outputs"])
    except (AbiError, KeyError):
        return None
    text = signature(str(entry["name"]), types)
    inputs = [
        Input(str(each.get("name") or ""), type_.name)
        for each, type_ in zip(entry["inputs"], types, strict=True)
    ]
    returns = ", ".join(each.name for each in outputs)
    return Function(text, inputs, returns) if len(text) <= LONGEST_SIGNATURE else None
