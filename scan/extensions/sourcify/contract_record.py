"""A verified contract in Sourcify's form.

Values that are not stored are null: source maps, layouts of transient storage, ids of sources.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from scan.cached_values import cached_property
from scan.contracts import abi, abi_decoding
from scan.ethereum.checksums import checksummed
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.compiled_sources import compiler_layouts
from scan.extensions.sourcify import fields
from scan.hex import to_hex
from scan.http.json_responses import json_fragment
from scan.queries import contracts
from scan.queries.reader import Reader
from scan.verification import verifier
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME
from scan.verification.languages import (
    language_of_path,
    solidity,
    standard_input,
    standard_settings,
)

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


def columns_of(selection: fields.Selection) -> set[str]:
    """Return the optional columns of queries.contracts that these fields need."""
    return {column for name in selection if name in _FIELDS for column in _FIELDS[name].columns}


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
        "address": checksummed(to_hex(address)),
    }
    return {**record, "warning": verifier.MESSAGES[RUNTIME]} if match == RUNTIME else record


def usual_fields(contract: contracts.Contract) -> dict[str, Any]:
    return {"verifiedAt": contract.verified_at, "matchId": contract.match_id}


@dataclass
class _Record:
    """A contract whose record is made; `creation` is the code that created it."""

    reader: Reader
    address: bytes
    stored: contracts.Contract
    creation: bytes | None

    @cached_property
    def storage_layout(self) -> Any:
        """Return Solidity's layout, without what Scan adds to it; Vyper's has another form."""
        if language_of_path(self.stored.path) is not solidity.SOLIDITY:
            return None
        database = self.reader.sources.database
        layout, _ = compiler_layouts.findings_of(database, self.address, self.stored.verifier)
        return {name: layout[name] for name in ("storage", "types") if name in layout} or None


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
    contract = _Record(reader, address, stored, creation)
    for name, field in _FIELDS.items():
        if name in selection:
            record[name] = _members(field.value(contract), selection[name])
    return record


def _members(value: Any, names: tuple[str, ...]) -> Any:
    is_whole = not names or "proxyResolutionError" in value
    return value if is_whole else {name: value.get(name) for name in names}


def _deployment(contract: _Record) -> dict[str, Any]:
    """Return the creation, by a transaction or inside of one; its sender is the deployer."""
    created = contracts.indexed(contract.reader, contract.address)
    if created is None:
        return {}
    return {
        "transactionHash": to_hex(created.transaction_hash),
        "blockNumber": str(created.block_number),
        "transactionIndex": str(created.transaction_index),
        "deployer": checksummed(to_hex(created.creator)),
    }


def _compilation(stored: contracts.Contract) -> dict[str, Any]:
    language = language_of_path(stored.path)
    return {
        "language": language.name,
        "compiler": language.kind.name,
        "compilerVersion": stored.compiler_version,
        "compilerSettings": standard_settings(orjson.loads(stored.settings or "{}")),
        "name": stored.name,
        "fullyQualifiedName": f"{stored.path}:{stored.name}",
    }


def _standard_input(stored: contracts.Contract) -> dict[str, Any]:
    settings = orjson.loads(stored.settings or "{}")
    return standard_input(stored.path, json_fragment(stored.sources), settings)


def _standard_output(record: _Record) -> dict[str, Any]:
    """Return the compiler's output for this contract alone, as Sourcify does, with the values that
    are stored."""
    stored = record.stored
    contract = {
        "abi": json_fragment(stored.abi),
        "userdoc": _documentation(stored, "userdoc"),
        "devdoc": _documentation(stored, "devdoc"),
        "metadata": stored.metadata,
        "storageLayout": record.storage_layout,
    }
    return {"contracts": {stored.path: {stored.name: contract}}}


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
                hash_ = to_hex(keccak256(text.encode()))
                hashes = {"signatureHash32": hash_, "signatureHash4": hash_[:10]}
                listed[kind].append({"signature": text, **hashes})
    return listed


def _proxy_resolution(record: _Record) -> dict[str, Any]:
    lookup = contracts.proxy_of(record.reader, record.address, record.stored)
    if not lookup.is_known:
        error = fields.error_value("proxy_resolution_error", "The node does not respond.")
        return {"proxyResolutionError": error}
    if lookup.proxy is None:
        return {"isProxy": False, "proxyType": None, "implementations": []}
    implementations = []
    for target in lookup.proxy.implementations:
        implementation = {"address": checksummed(to_hex(target)), "evidence": lookup.proxy.evidence}
        verified = contracts.get(record.reader, target, ())
        if verified.has_source:
            implementation["name"] = verified.name
        implementations.append(implementation)
    kind = PROXY_TYPES.get(lookup.proxy.kind)
    return {"isProxy": True, "proxyType": kind, "implementations": implementations}


class _Field(NamedTuple):
    """A field: its value, null where none is stored, and the optional columns that it needs."""

    value: Callable[[_Record], Any] = lambda _: None
    columns: Sequence[str] = ()


_FIELDS: Mapping[str, _Field] = {
    "creationBytecode": _Field(
        lambda record: fields.creation_bytecode(record.stored, record.creation), ("layouts",)
    ),
    "deployment": _Field(_deployment),
    "runtimeBytecode": _Field(
        lambda record: fields.runtime_bytecode(record.stored), ("code", "layouts")
    ),
    "sources": _Field(lambda record: json_fragment(record.stored.sources), ("sources",)),
    "compilation": _Field(lambda record: _compilation(record.stored), ("settings",)),
    "abi": _Field(lambda record: json_fragment(record.stored.abi), ("abi",)),
    "metadata": _Field(lambda record: json_fragment(record.stored.metadata), ("metadata",)),
    "storageLayout": _Field(lambda record: record.storage_layout),
    **dict.fromkeys(("transientStorageLayout", "sourceIds", "additionalInput"), _Field()),
    "userdoc": _Field(lambda record: _documentation(record.stored, "userdoc"), ("metadata",)),
    "devdoc": _Field(lambda record: _documentation(record.stored, "devdoc"), ("metadata",)),
    "stdJsonInput": _Field(lambda record: _standard_input(record.stored), ("settings", "sources")),
    "stdJsonOutput": _Field(_standard_output, ("abi", "metadata")),
    "signatures": _Field(lambda record: _signatures(record.stored), ("interface",)),
    "proxyResolution": _Field(_proxy_resolution, ("code",)),
}
