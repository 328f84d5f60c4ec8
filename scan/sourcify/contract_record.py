"""A contract as Sourcify's clients read it, put together from what is stored of its verification.

What is not stored is null: the compiler's bytecode, source maps and storage layout.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson
from eth_utils.address import to_checksum_address

from scan.contracts.proxy_contracts import DELEGATECALL, clone_of, eip1967_implementation
from scan.database.connection import Database
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.gateway import NodeSession
from scan.hex import BadHex, to_hex
from scan.sourcify.errors import UnsupportedChain, error_value
from scan.sourcify.fields import Selection

MATCHES = {"full": "exact_match", "partial": "match", None: None}
# The columns that each field needs, of those that are read only when they are named.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "runtimeBytecode": ("code",),
    "deployment": ("deployment",),
    "sources": ("sources",),
    "compilation": ("settings",),
    "abi": ("abi",),
    "metadata": ("metadata",),
    "userdoc": ("metadata",),
    "devdoc": ("metadata",),
    "stdJsonInput": ("settings", "sources"),
    "stdJsonOutput": ("abi", "metadata"),
    "proxyResolution": ("code",),
}


class StoredContract(NamedTuple):
    """A row of queries/contracts_get; JSON is text, and null where it was not read."""

    chain_id: str
    match: str | None
    creation_match: str | None
    verified_at: str | None
    match_id: str | None
    name: str
    path: str
    compiler_version: str
    settings: str | None
    abi: str | None
    sources: str | None
    metadata: str | None
    code: bytes | None
    transaction_hash: bytes | None
    block_number: int | None
    transaction_index: int | None
    deployer: bytes | None


def stored_contract(
    database: Database, chain_id: str, address: bytes, selection: Selection
) -> StoredContract:
    """Raises UnsupportedChain for any chain but the one indexed."""
    parts = {part for field in selection for part in _PARTS.get(field, ())}
    row = database.row("queries/contracts_get", address=address, parts=list(parts))
    assert row is not None
    if row[0] is None or row[0] != chain_id.lstrip("0"):
        raise UnsupportedChain(f"The chain with chainId {chain_id} is not supported")
    return StoredContract(*row)


def minimal_record(
    stored: StoredContract, address: bytes, match: str | None, creation_match: str | None
) -> dict[str, Any]:
    return {
        "match": MATCHES[match],
        "creationMatch": MATCHES[creation_match],
        "runtimeMatch": MATCHES[match],
        "chainId": stored.chain_id,
        "address": to_checksum_address(address),
    }


def usual_fields(stored: StoredContract) -> dict[str, Any]:
    return {"verifiedAt": stored.verified_at, "matchId": stored.match_id}


def contract_record(
    stored: StoredContract,
    address: bytes,
    selection: Selection,
    database: Database,
    node: NodeSession,
) -> dict[str, Any]:
    """`database` and `node` are asked only of a proxy's implementation."""
    record = minimal_record(stored, address, stored.match, stored.creation_match)
    record |= {name: value for name, value in usual_fields(stored).items() if name in selection}
    for field, build in _BUILDERS.items():
        if field in selection:
            record[field] = _members(build(stored), selection[field])
    if "proxyResolution" in selection:
        resolution = _proxy_resolution(stored, address, database, node)
        if "proxyResolutionError" not in resolution:
            resolution = _members(resolution, selection["proxyResolution"])
        record["proxyResolution"] = resolution
    return record


def _members(value: Any, names: tuple[str, ...]) -> Any:
    return {name: value.get(name) for name in names} if names else value


def _runtime_bytecode(stored: StoredContract) -> dict[str, Any]:
    return {"onchainBytecode": None if stored.code is None else to_hex(bytes(stored.code))}


def _deployment(stored: StoredContract) -> dict[str, Any]:
    if stored.transaction_hash is None or stored.deployer is None:
        return {}
    return {
        "transactionHash": to_hex(bytes(stored.transaction_hash)),
        "blockNumber": str(stored.block_number),
        "transactionIndex": str(stored.transaction_index),
        "deployer": to_checksum_address(bytes(stored.deployer)),
    }


def _compilation(stored: StoredContract) -> dict[str, Any]:
    return {
        "language": "Solidity",
        "compiler": "solc",
        "compilerVersion": stored.compiler_version,
        "compilerSettings": _settings(stored),
        "name": stored.name,
        "fullyQualifiedName": f"{stored.path}:{stored.name}",
    }


def _settings(stored: StoredContract) -> dict[str, Any]:
    """As in a standard JSON input, where libraries are grouped by file."""
    settings: dict[str, Any] = orjson.loads(stored.settings or "{}")
    libraries: dict[str, dict[str, str]] = {}
    for qualified, address in settings.get("libraries", {}).items():
        path, _, name = qualified.rpartition(":")
        libraries.setdefault(path, {})[name] = address
    return {**settings, "libraries": libraries} if libraries else settings


def _standard_input(stored: StoredContract) -> dict[str, Any]:
    settings = _settings(stored)
    return {"language": "Solidity", "sources": _json(stored.sources), "settings": settings}


def _standard_output(stored: StoredContract) -> dict[str, Any]:
    """The contract alone, as Sourcify has it, without what is not stored."""
    contract = {
        "abi": _json(stored.abi),
        "userdoc": _documentation(stored, "userdoc"),
        "devdoc": _documentation(stored, "devdoc"),
        "metadata": stored.metadata,
    }
    return {"contracts": {stored.path: {stored.name: contract}}}


def _documentation(stored: StoredContract, kind: str) -> Any:
    """The metadata file holds it as the compiler gives it."""
    if stored.metadata is None:
        return None
    return orjson.loads(stored.metadata).get("output", {}).get(kind)


def _json(text: str | None) -> orjson.Fragment | None:
    """JSON that PostgreSQL or the compiler has made, as it is."""
    return None if text is None else orjson.Fragment(text)


_BUILDERS: Mapping[str, Callable[[StoredContract], Any]] = {
    "creationBytecode": lambda stored: {},
    "runtimeBytecode": _runtime_bytecode,
    "deployment": _deployment,
    "sources": lambda stored: _json(stored.sources),
    "compilation": _compilation,
    "abi": lambda stored: _json(stored.abi),
    "metadata": lambda stored: _json(stored.metadata),
    "storageLayout": lambda stored: None,
    "userdoc": lambda stored: _documentation(stored, "userdoc"),
    "devdoc": lambda stored: _documentation(stored, "devdoc"),
    "stdJsonInput": _standard_input,
    "stdJsonOutput": _standard_output,
}


def _proxy_resolution(
    stored: StoredContract, address: bytes, database: Database, node: NodeSession
) -> dict[str, Any]:
    try:
        kind, implementation = _implementation(bytes(stored.code or b""), address, node)
    except (UpstreamFailed, Unavailable, BadHex):
        error = error_value("proxy_resolution_error", "The node does not answer now.")
        return {"proxyResolutionError": error}
    if implementation is None:
        return {"isProxy": False, "proxyType": None, "implementations": []}
    found: dict[str, str] = {"address": to_checksum_address(implementation)}
    verified = stored_contract(database, stored.chain_id, implementation, {})
    if verified.match:
        found["name"] = verified.name
    return {"isProxy": True, "proxyType": kind, "implementations": [found]}


def _implementation(code: bytes, address: bytes, node: NodeSession) -> tuple[str, bytes | None]:
    clone = clone_of(code)
    if clone is not None:
        return "EIP1167Proxy", clone
    if DELEGATECALL not in code:
        return "", None
    return "EIP1967Proxy", eip1967_implementation(node, to_hex(address))
