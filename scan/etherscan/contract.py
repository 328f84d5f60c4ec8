"""module=contract: ABIs and sources of verified contracts, and what stands behind proxies."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from scan.contracts.proxy_contracts import Proxy, proxy_at
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, Reply
from scan.hex import to_hex
from scan.http.requests import reader
from scan.http.services import services

NOT_VERIFIED = "Contract source code not verified"
DEFAULT_RUNS = 200
_PLAIN_SETTINGS = {"optimizer", "evmVersion", "remappings", "libraries", "metadata"}
_PLAIN_METADATA: tuple[object, ...] = ({}, {"bytecodeHash": "ipfs"}, {"bytecodeHash": "bzzr1"})
NOTHING = {
    "SourceCode": "",
    "ABI": NOT_VERIFIED,
    "ContractName": "",
    "CompilerVersion": "",
    "CompilerType": "",
    "OptimizationUsed": "",
    "Runs": "",
    "ConstructorArguments": "",
    "EVMVersion": "Default",
    "Library": "",
    "ContractFileName": "",
    "LicenseType": "",
    "Proxy": "0",
    "Implementation": "",
    "SwarmSource": "",
    "SimilarMatch": "",
}


class Found(NamedTuple):
    """What is known of an address; `verified` is a verified_contract_record."""

    verified: Mapping[str, Any] | None
    proxy: Proxy | None


def abi(asked: Parameters) -> Reply:
    verified = find(asked.address()).verified
    if verified is None:
        raise Failure(NOT_VERIFIED)
    return Reply(orjson.dumps(verified["abi"]).decode())


def source_code(asked: Parameters) -> Reply:
    found = find(asked.address())
    row = NOTHING if found.verified is None else _row(found.verified)
    if found.proxy is not None and found.verified is not None:
        row = {**row, "Proxy": "1", "Implementation": to_hex(found.proxy.implementation)}
    return Reply([row])


def find(address: bytes) -> Found:
    """A minimal proxy has its implementation's verification."""
    reads = services().reads
    row = reads.row("contracts/contracts_get_code", address=address)
    if row is None:
        return Found(None, None)
    proxy = proxy_at(reader().node, address, bytes(row[1]))
    record = reads.value(
        "contracts/verified_contracts_get", address=address, code_hash=row[0], proxy=None
    )
    if record is None and proxy is not None and proxy.kind == "eip1167":
        record = reads.value(
            "contracts/verified_contracts_get_of_clone",
            address=address,
            implementation=proxy.implementation,
            proxy=None,
        )
    return Found(None if record is None else orjson.loads(record), proxy)


def _row(verified: Mapping[str, Any]) -> dict[str, str]:
    settings = verified["settings"]
    optimizer = settings.get("optimizer", {})
    return {
        "SourceCode": _source_code(verified),
        "ABI": orjson.dumps(verified["abi"]).decode(),
        "ContractName": verified["contractName"],
        "CompilerVersion": f"v{verified['compilerVersion']}",
        "CompilerType": "solc",
        "OptimizationUsed": "1" if optimizer.get("enabled") else "0",
        "Runs": str(optimizer.get("runs", DEFAULT_RUNS)),
        "ConstructorArguments": (verified["constructorArguments"] or "").removeprefix("0x"),
        "EVMVersion": settings.get("evmVersion") or "Default",
        "Library": _libraries(settings),
        "ContractFileName": verified["filePath"],
        "LicenseType": verified["license"] or "",
        "Proxy": "0",
        "Implementation": "",
        "SwarmSource": "",
        "SimilarMatch": verified["verifiedBy"] or "",
    }


def _libraries(settings: Mapping[str, Any]) -> str:
    """`Name:address;…`, as Etherscan has them: without files and without 0x."""
    libraries = settings.get("libraries", {})
    return ";".join(
        f"{name.rpartition(':')[2]}:{str(address).removeprefix('0x')}"
        for name, address in libraries.items()
    )


def _source_code(verified: Mapping[str, Any]) -> str:
    """The text of a single file whose other fields say how it was compiled, else standard JSON in
    doubled braces."""
    sources, settings = verified["sources"], verified["settings"]
    if len(sources) == 1 and _are_plain(settings):
        [source] = sources.values()
        return str(source["content"])
    standard = {"language": "Solidity", "sources": sources, "settings": _standard(settings)}
    return f"{{{orjson.dumps(standard).decode()}}}"


def _are_plain(settings: Mapping[str, Any]) -> bool:
    return (
        settings.keys() <= _PLAIN_SETTINGS
        and not settings.get("libraries")
        and not settings.get("remappings")
        and settings.get("metadata", {}) in _PLAIN_METADATA
        and settings.get("optimizer", {}).keys() <= {"enabled", "runs"}
    )


def _standard(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As a compiler takes them: libraries by file, and the ABI wanted."""
    libraries: dict[str, dict[str, str]] = {}
    for name, address in settings.get("libraries", {}).items():
        file_path, _, library = name.rpartition(":")
        libraries.setdefault(file_path, {})[library] = address
    outputs = ["abi", "evm.bytecode", "evm.deployedBytecode", "metadata"]
    return {**settings, "libraries": libraries, "outputSelection": {"*": {"*": outputs}}}
