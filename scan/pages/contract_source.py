"""What is verified about the contract at an address, for its tab: sources, ABI, view functions."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, parse_types, signature
from scan.contracts.proxy_contracts import Proxy, delegates
from scan.errors import NotFound
from scan.hex import to_hex
from scan.http.chain_reads import do_not_cache
from scan.http.services import services
from scan.pages.formatting import visible_lines
from scan.pages.records import Record
from scan.pages.site import site

MAX_SHOWN_FUNCTIONS = 300
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
    verified: Record | None = None
    files: Sequence[SourceFile] = ()
    functions: Sequence[Function] = ()
    proxy_kind: str | None = None
    implementation: str | None = None
    implementation_functions: Sequence[Function] = ()

    @property
    def verified_by(self) -> str | None:
        return self.verified["verifiedBy"] if self.verified else None


def read_contract(address: bytes) -> ShownContract:
    """Read between read_account() and names_of(): where both have read one version of the index, so
    has this, and the page may be cached."""
    code = _code(address)
    if code is None:
        return ShownContract(has_code=False)
    proxy = None
    if delegates(code.code):
        do_not_cache()  # where a proxy leads is the node's to say
        proxy = site().calls.proxy(address, code.code)
    verified = _verified(address, code.code_hash)
    if verified is None and proxy is not None and proxy.kind == "eip1167":
        verified = _verified_implementation(proxy)
    implementation = _implementation(proxy)
    return ShownContract(
        has_code=True,
        code_size=len(code.code),
        verified=verified,
        files=_files(verified),
        functions=_functions(verified),
        proxy_kind=proxy.kind if proxy else None,
        implementation=to_hex(proxy.implementation) if proxy else None,
        implementation_functions=_functions(implementation),
    )


class _Code(NamedTuple):
    code_hash: bytes
    code: bytes


def _code(address: bytes) -> _Code | None:
    row = services().reads.row("contracts/contracts_get_code", address=address)
    return None if row is None or not bytes(row[1]) else _Code(bytes(row[0]), bytes(row[1]))


def _verified(address: bytes, code_hash: bytes) -> Record | None:
    body = services().reads.value(
        "contracts/verified_contracts_get", address=address, code_hash=code_hash, proxy=None
    )
    return None if body is None else dict(json.loads(body))


def _implementation(proxy: Proxy | None) -> Record | None:
    """Of a proxy that keeps its own ABI; a clone shows its implementation's as its own."""
    if proxy is None or proxy.kind == "eip1167":
        return None
    return _verified_implementation(proxy)


def _verified_implementation(proxy: Proxy) -> Record | None:
    code = _code(proxy.implementation)
    return None if code is None else _verified(proxy.implementation, code.code_hash)


def read_source_file(address: bytes, path: str) -> str:
    """The whole of a file that read_contract() shows; raises NotFound."""
    do_not_cache()  # the largest would push everything else out
    code = _code(address)
    verified = _verified(address, code.code_hash) if code else None
    if verified is None or path not in verified["sources"]:
        raise NotFound("There is no such file of a verified contract.")
    return str(verified["sources"][path]["content"])


def _files(verified: Record | None) -> list[SourceFile]:
    """The file of the contract first; as much of them all as a page shows."""
    if verified is None:
        return []
    files = []
    lines_left, characters_left = MAX_SHOWN_LINES, MAX_SHOWN_CHARACTERS
    for path in sorted(verified["sources"], key=lambda path: (path != verified["filePath"], path)):
        content = str(verified["sources"][path]["content"])
        first = content[:characters_left].split("\n", lines_left)[:lines_left]
        lines = visible_lines("\n".join(first)) if characters_left and first else []
        lines_left -= len(lines)
        characters_left -= min(len(content), characters_left)
        files.append(SourceFile(path, lines, content.count("\n") + 1))
    return files


def _functions(verified: Record | None) -> list[Function]:
    """Its view and pure functions, in the ABI's order."""
    entries = verified["abi"] if verified else []
    found = [_function(entry) for entry in entries if _is_readable(entry)]
    return [each for each in found if each is not None][:MAX_SHOWN_FUNCTIONS]


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
