"""A verified contract in Sourcify's form.

Values that are not stored are null: source maps, layouts of transient storage, ids of sources.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from scan.contracts import abi, abi_decoding
from scan.extensions.sourcify import fields
from scan.extensions.transaction_details import storage_layouts
from scan.hex import to_hex
from scan.http.requests import json_fragment
from scan.queries import contracts
from scan.queries.reader import Reader
from scan.verification import verifier
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME
from scan.verification.languages import language_of_path, solidity, standard_input

# Sourcify's names of proxies; it has none of other kinds.
PROXY_TYPES = {
    "eip1167": "EIP1167Proxy",
    "eip1822": "PROXIABLEProxy",
    "eip1967": "EIP1967Proxy",
    "eip2535": "DiamondProxy",
    "safe": "GnosisSafeProxy",
    "immutable-args-clone": "FixedProxy",
    "openzeppelin": "ZeppelinOSProxy",
}
MATCHES = {FULL: "exact_match", PARTIAL: "match", RUNTIME: "match", None: None}
# The optional columns of queries.contracts that a field needs.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "creationBytecode": ("layouts",),
    "runtimeBytecode": ("code", "layouts"),
    "sources": ("sources",),
    "compilation": ("settings",),
    "abi": ("abi",),
    "metadata": ("metadata",),
    "userdoc": ("metadata",),
    "devdoc": ("metadata",),
    "stdJsonInput": ("settings", "sources"),
    "stdJsonOutput": ("abi", "metadata"),
    "signatures": ("interface",),
    "proxyResolution": ("code",),
}


def columns_of(selection: fields.Selection) -> set[str]:
    """Return the optional columns of queries.contracts that these fields need."""
    return {column for field in selection for column in _COLUMNS.get(field, ())}


def minimal_record(
    chain_id: str, address: bytes, match: str | None, creation_match: str | None
) -> dict[str, Any]:
    """Return the fields of every answer; `creationMatch` is null both for creation code that
    differs, which a `warning` says, and for code that was not compared."""
    record = {
        "match": MATCHES[match],
        "creationMatch": MATCHES[creation_match],
        "runtimeMatch": MATCHES[match],
        "chainId": chain_id,
        "address": to_checksum_address(address),
    }
    return {**record, "warning": verifier.MESSAGES[RUNTIME]} if match == RUNTIME else record


def usual_fields(contract: contracts.Contract) -> dict[str, Any]:
    return {"verifiedAt": contract.verified_at, "matchId": contract.match_id}


def contract_record(
    reader: Reader,
    chain_id: str,
    address: bytes,
    stored: contracts.Contract,
    selection: fields.Selection,
    creation: bytes | None,
) -> dict[str, Any]:
    """Return the contract's record; `creation` is the code that created it, where it is known
    and needed."""
    record = minimal_record(chain_id, address, stored.match, stored.creation_match)
    if stored.warning is not None:
        record["warning"] = stored.warning
    record |= {name: value for name, value in usual_fields(stored).items() if name in selection}
    if "creationBytecode" in selection:
        bytecode = fields.creation_bytecode(stored, creation)
        record["creationBytecode"] = _members(bytecode, selection["creationBytecode"])
    if "deployment" in selection:
        deployment = _deployment(reader, address)
        record["deployment"] = _members(deployment, selection["deployment"])
    layout = None
    if not selection.keys().isdisjoint(("storageLayout", "stdJsonOutput")):
        layout = _storage_layout(reader, address, stored)
    builders: Mapping[str, Callable[[contracts.Contract], Any]] = {
        **_BUILDERS,
        "storageLayout": lambda _: layout,
        "stdJsonOutput": partial(_standard_output, layout=layout),
    }
    for field, build in builders.items():
        if field in selection:
            record[field] = _members(build(stored), selection[field])
    if "proxyResolution" in selection:
        resolution = _proxy_resolution(reader, address, stored)
        if "proxyResolutionError" not in resolution:
            resolution = _members(resolution, selection["proxyResolution"])
        record["proxyResolution"] = resolution
    return record


def _members(value: Any, names: tuple[str, ...]) -> Any:
    return {name: value.get(name) for name in names} if names else value


def _deployment(reader: Reader, address: bytes) -> dict[str, Any]:
    """Return the creation, by a transaction or inside of one; its sender is the deployer."""
    created = contracts.indexed(reader, address)
    return (
        {}
        if created is None
        else {
            "transactionHash": to_hex(created.transaction_hash),
            "blockNumber": str(created.block_number),
            "transactionIndex": str(created.transaction_index),
            "deployer": to_checksum_address(created.creator),
        }
    )


def _compilation(stored: contracts.Contract) -> dict[str, Any]:
    language = language_of_path(stored.path)
    return {
        "language": language.name,
        "compiler": language.kind.name,
        "compilerVersion": stored.compiler_version,
        "compilerSettings": _settings(stored),
        "name": stored.name,
        "fullyQualifiedName": f"{stored.path}:{stored.name}",
    }


def _settings(stored: contracts.Contract) -> dict[str, Any]:
    """Return the settings as in standard JSON, where libraries are grouped by file."""
    settings: dict[str, Any] = orjson.loads(stored.settings or "{}")
    libraries = contracts.libraries_by_file(settings.get("libraries", {}))
    return {**settings, "libraries": libraries} if libraries else settings


def _standard_input(stored: contracts.Contract) -> dict[str, Any]:
    language = language_of_path(stored.path).name
    return standard_input(language, json_fragment(stored.sources), _settings(stored))


def _standard_output(stored: contracts.Contract, layout: Any) -> dict[str, Any]:
    """Return the compiler's output for this contract alone, as Sourcify does, with the values that
    are stored."""
    contract = {
        "abi": json_fragment(stored.abi),
        "userdoc": _documentation(stored, "userdoc"),
        "devdoc": _documentation(stored, "devdoc"),
        "metadata": stored.metadata,
        "storageLayout": layout,
    }
    return {"contracts": {stored.path: {stored.name: contract}}}


def _storage_layout(reader: Reader, address: bytes, stored: contracts.Contract) -> Any:
    """Return Solidity's layout, without what Scan adds to it; Vyper's has another form."""
    if language_of_path(stored.path) is not solidity.SOLIDITY:
        return None
    layout = storage_layouts.layout_of(reader.sources.database, address, stored.verifier)
    return {name: layout[name] for name in ("storage", "types") if name in layout} or None


def _documentation(stored: contracts.Contract, kind: str) -> Any:
    """Return `userdoc` or `devdoc` from the metadata file."""
    if stored.metadata is None:
        return None
    return orjson.loads(stored.metadata).get("output", {}).get(kind)


def _signatures(stored: contracts.Contract) -> dict[str, list[dict[str, str]]]:
    """Return the signatures of functions, events and errors with their hashes, as compiled."""
    listed: dict[str, list[dict[str, str]]] = {"function": [], "event": [], "error": []}
    for entry in orjson.loads(stored.interface or "[]"):
        kind = entry.get("type", "function")
        if kind in listed and abi_decoding.LIBRARY not in entry:
            with suppress(abi.AbiError, KeyError):
                text = abi.signature_of(entry, abi.parse_types(entry.get("inputs", [])))
                hash_ = to_hex(bytes(keccak(text=text)))
                hashes = {"signatureHash32": hash_, "signatureHash4": hash_[:10]}
                listed[kind].append({"signature": text, **hashes})
    return listed


_BUILDERS: Mapping[str, Callable[[contracts.Contract], Any]] = {
    "runtimeBytecode": fields.runtime_bytecode,
    "sources": lambda stored: json_fragment(stored.sources),
    "compilation": _compilation,
    "abi": lambda stored: json_fragment(stored.abi),
    "metadata": lambda stored: json_fragment(stored.metadata),
    "storageLayout": lambda stored: None,  # it is read by itself, as is that of stdJsonOutput
    "transientStorageLayout": lambda stored: None,
    "sourceIds": lambda stored: None,
    "additionalInput": lambda stored: None,
    "userdoc": lambda stored: _documentation(stored, "userdoc"),
    "devdoc": lambda stored: _documentation(stored, "devdoc"),
    "stdJsonInput": _standard_input,
    "stdJsonOutput": lambda stored: None,
    "signatures": _signatures,
}


def _proxy_resolution(reader: Reader, address: bytes, stored: contracts.Contract) -> dict[str, Any]:
    lookup = contracts.proxy_of(reader, address, stored)
    if not lookup.is_known:
        error = fields.error_value("proxy_resolution_error", "The node does not respond.")
        return {"proxyResolutionError": error}
    if lookup.proxy is None:
        return {"isProxy": False, "proxyType": None, "implementations": []}
    implementations = []
    for target in lookup.proxy.implementations:
        implementation: dict[str, str] = {"address": to_checksum_address(target)}
        verified = contracts.get(reader, target, ())
        if verified.is_verified:
            implementation["name"] = verified.name
        implementations.append(implementation)
    kind = PROXY_TYPES.get(lookup.proxy.kind)
    return {"isProxy": True, "proxyType": kind, "implementations": implementations}
