"""Verification from submission to stored record."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from scan.contracts.abi import AbiError, decode, encode, parse_types
from scan.database.connection import Database
from scan.errors import NotFound, VerificationFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Node, NodeError, RpcError
from scan.hex import BadHex, data, to_hex
from scan.verification.bytecode_comparison import constructor_data
from scan.verification.compiler import Compilers
from scan.verification.compiler_install import Installer
from scan.verification.matching import Match, Search
from scan.verification.request import Submission

BUDGET_S = 60.0
NODE_TIMEOUT_S = 5.0
_EOF = b"\xef"


@dataclass(frozen=True)
class Verifier:
    """What a verification needs."""

    database: Database
    node: Node
    compilers: Compilers
    installer: Installer


class Target(NamedTuple):
    """`creation_hash` is the transaction that created the contract, where there was one."""

    address: bytes
    code_hash: bytes
    code: bytes
    creation_hash: bytes | None


class Creation(NamedTuple):
    """`match` is None where the creating transaction is not known or does not fit."""

    match: str | None
    constructor_arguments: bytes | None


class Verified(NamedTuple):
    """`kept` is unset where an equal or better verification was there already."""

    submission: Submission
    match: str
    creation: Creation
    contract_name: str
    file_path: str
    compiler_version: str
    settings: Mapping[str, Any]
    kept: bool


def verify(parts: Verifier, submission: Submission) -> Verified:
    """Raises NotFound, VerificationFailed, Unavailable, InvalidParameter (no such compiler)."""
    deadline = time.monotonic() + BUDGET_S
    target = _target(parts.database, submission.address)
    with parts.compilers.admitted():
        executable = parts.installer.executable(submission.release)
        with parts.compilers.running(deadline):
            search = Search(parts.compilers, executable, submission, target.code, deadline)
            match = search.run()
    creation = _creation(parts.node, target, match)
    return _store(parts.database, target, submission, match, creation)


def _target(database: Database, address: bytes) -> Target:
    row = database.row("contracts/contracts_get_code", address=address)
    if row is None or not bytes(row[1]):
        raise NotFound("No contract is indexed at this address.", field="address")
    code_hash, code, creation_hash = row
    target = Target(address, bytes(code_hash), bytes(code), creation_hash and bytes(creation_hash))
    if target.code.startswith(DELEGATION):
        raise NotFound("This address is an account that delegates (EIP-7702), not a contract.")
    if target.code.startswith(_EOF):
        raise VerificationFailed("Contracts in the EVM Object Format are not supported.")
    return target


def _creation(node: Node, target: Target, match: Match) -> Creation:
    """Compared second: what does not fit here voids nothing but the creation match."""
    creation_input = _creation_input(node, target.creation_hash)
    for spans in ((), match.creation_auxdata) if creation_input else ():
        arguments = constructor_data(creation_input or b"", match.creation, match.libraries, spans)
        if arguments is None:
            continue
        if not _are_constructor_arguments(match.contract.output.get("abi", []), arguments):
            break
        metadata = {(creation_input or b"")[span.start : span.end] for span in spans}
        proven = match.level == "full" and all(map(target.code.endswith, metadata))
        return Creation("full" if proven else "partial", arguments)
    return Creation(None, None)


def _creation_input(node: Node, creation_hash: bytes | None) -> bytes | None:
    if creation_hash is None:
        return None
    try:
        transaction = node.call(
            "eth_getTransactionByHash", to_hex(creation_hash), timeout_s=NODE_TIMEOUT_S
        )
        return data(transaction["input"]) if isinstance(transaction, dict) else None
    except (NodeError, RpcError, BadHex, KeyError):
        return None


def _are_constructor_arguments(abi: list[dict[str, Any]], arguments: bytes) -> bool:
    constructor = next((entry for entry in abi if entry.get("type") == "constructor"), {})
    try:
        types = parse_types(constructor.get("inputs", []))
        return encode(types, decode(types, arguments)) == arguments
    except (AbiError, OverflowError):
        return False


def _store(
    database: Database, target: Target, submission: Submission, match: Match, creation: Creation
) -> Verified:
    metadata = orjson.loads(match.metadata)
    settings = dict(metadata.get("settings", {}))
    target_file = settings.pop("compilationTarget", {match.contract.path: match.contract.name})
    [(file_path, contract_name)] = target_file.items()
    version = str(metadata.get("compiler", {}).get("version", ""))
    if match.libraries:
        settings["libraries"] = {name: to_hex(at) for name, at in match.libraries.items()}
    kept = database.value(
        "verification/verified_contracts_insert",
        address=target.address,
        code_hash=target.code_hash,
        match=match.level,
        creation_match=creation.match,
        contract_name=contract_name,
        file_path=file_path,
        compiler_version=version,
        license=submission.license or _license_of(metadata, file_path),
        settings=_json(settings),
        abi=_json(match.contract.output.get("abi", [])),
        sources=_json(_sources(submission, metadata)),
        constructor_arguments=creation.constructor_arguments,
    )
    return Verified(
        submission,
        match.level,
        creation,
        contract_name,
        file_path,
        version,
        settings,
        kept is not None,
    )


def _license_of(metadata: Mapping[str, Any], file_path: str) -> str | None:
    """The SPDX comment of the file, as the compiler read it (from 0.6.8)."""
    license_ = metadata.get("sources", {}).get(file_path, {}).get("license")
    return license_[:100] if isinstance(license_, str) else None


def _sources(submission: Submission, metadata: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Only files that the compilation used: the code says nothing of any other."""
    used = list(metadata.get("sources", {}))
    if len(submission.sources) == 1 and len(used) == 1:
        return {used[0]: {"content": next(iter(submission.sources.values()))}}
    return {
        path: {"content": content}
        for path, content in submission.sources.items()
        if path in used or not used
    }


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def message(verified: Verified) -> str:
    sentence = (
        "Full match: the source, its settings and its metadata give the deployed bytecode."
        if verified.match == "full"
        else "Partial match: the source gives the deployed bytecode, but its metadata differs "
        "(comments, names or file paths may not be those of the deployer)."
    )
    if not verified.kept:
        sentence += " An equal or better verification is already stored and stays."
    given = verified.submission.constructor_arguments
    found = verified.creation.constructor_arguments
    if given is not None and found is not None and given != found:
        sentence += " The constructor arguments given are not those of the creating transaction."
    return sentence
