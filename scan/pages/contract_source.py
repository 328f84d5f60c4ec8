"""What is verified about the contract at an address, for its tab: sources, ABI, view functions."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, parse_types, signature
from scan.contracts.proxy_contracts import Proxy, proxy_at
from scan.hex import to_hex
from scan.http.requests import reader
from scan.http.services import services
from scan.pages.formatting import visible_lines
from scan.pages.records import Record

MAX_SHOWN_FUNCTIONS = 300
LONGEST_SIGNATURE = 500  # as the API's functionName


class Input(NamedTuple):
    name: str
    type: str


class Function(NamedTuple):
    """A view or pure function; `outputs` are the types it returns."""

    signature: str
    inputs: Sequence[Input]
    outputs: str


class SourceFile(NamedTuple):
    path: str
    lines: Sequence[str]


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
    code = _code(address)
    if code is None:
        return ShownContract(has_code=False)
    reader().do_not_cache()  # where a proxy leads is the node's to say
    proxy = proxy_at(reader().node, address, code.code)
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


def _files(verified: Record | None) -> list[SourceFile]:
    """The file of the contract first."""
    if verified is None:
        return []
    paths = sorted(verified["sources"], key=lambda path: (path != verified["filePath"], path))
    return [
        SourceFile(path, visible_lines(str(verified["sources"][path]["content"]))) for path in paths
    ]


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
