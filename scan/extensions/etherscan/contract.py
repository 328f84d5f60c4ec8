"""module=contract: ABIs and sources of verified contracts, and implementations of proxies."""

from collections.abc import Mapping
from typing import Any

import orjson

from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, rows_reply
from scan.extensions.etherscan.verification import VYPER_PREFIX
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.queries import contracts
from scan.queries.contracts import Contract, libraries_by_file
from scan.queries.pages import Window
from scan.verification.languages import of_path, standard_input
from scan.verification.languages.vyper import VYPER

NOT_VERIFIED = "Contract source code not verified"
DEFAULT_RUNS = 200
MOST_LISTED = 50  # contracts with their ABIs
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


def abi(parameters: Parameters) -> Reply:
    contract, _ = contracts.get_with_proxy(reader(), parameters.address(), {"abi"})
    if contract.abi is None:
        raise Failure(NOT_VERIFIED)
    return Reply(orjson.dumps(orjson.loads(contract.abi)).decode())


def source_code(parameters: Parameters) -> Reply:
    contract, lookup = contracts.get_with_proxy(
        reader(), parameters.address(), {"settings", "abi", "sources"}
    )
    row = _row(contract) if contract.is_verified else NOTHING
    if contract.warning is not None:
        row = {**row, "Warning": contract.warning}
    if lookup.proxy is not None and contract.is_verified:
        row = {**row, "Proxy": "1", "Implementation": to_hex(lookup.proxy.implementation)}
    return Reply([row])


def verified_contracts(parameters: Parameters) -> Reply:
    """Return verified contracts in Blockscout's form, the latest verified first; `filter` may be
    `verified` or `1`, since nothing is known of other contracts."""
    if parameters.text("filter", "verified").lower() not in ("verified", "1"):
        raise Failure("Error! Only filter=verified is offered")
    page = contracts.verified_page(reader(), Window(*parameters.limit_and_offset(MOST_LISTED)))
    rows = []
    for record in orjson.loads(page.data):
        contract = contracts.get(reader(), data(record["address"]), {"abi", "settings"})
        optimizer = orjson.loads(contract.settings or "{}").get("optimizer", {})
        rows.append(
            {
                "Address": record["address"],
                "ABI": orjson.dumps(orjson.loads(contract.abi or "[]")).decode(),
                "ContractName": record["contractName"],
                "CompilerVersion": _compiler_version(contract),
                "OptimizationUsed": "1" if optimizer.get("enabled") else "0",
            }
        )
    return rows_reply(rows, "No contracts found", page.total)


def _row(contract: Contract) -> dict[str, str]:
    settings = orjson.loads(contract.settings or "{}")
    optimizer = settings.get("optimizer", {})
    return {
        **NOTHING,
        "SourceCode": _source_code(contract, settings),
        "ABI": orjson.dumps(orjson.loads(contract.abi or "[]")).decode(),
        "ContractName": contract.name,
        "CompilerVersion": _compiler_version(contract),
        "CompilerType": of_path(contract.path).kind.name,
        "OptimizationUsed": "1" if optimizer.get("enabled") else "0",
        "Runs": str(optimizer.get("runs", DEFAULT_RUNS)),
        "ConstructorArguments": bytes(contract.constructor_arguments or b"").hex(),
        "EVMVersion": settings.get("evmVersion") or "Default",
        "Library": _libraries(settings),
        "ContractFileName": contract.path,
        "LicenseType": contract.license or "",
        "SimilarMatch": to_hex(bytes(contract.verifier)) if contract.verifier else "",
    }


def _compiler_version(contract: Contract) -> str:
    """Return the version as Etherscan writes it: v0.8.26+commit.8a97fa7a, vyper:0.4.3."""
    prefix = VYPER_PREFIX if of_path(contract.path) is VYPER else "v"
    return f"{prefix}{contract.compiler_version}"


def _libraries(settings: Mapping[str, Any]) -> str:
    """Return `Name:address;…`, in Etherscan's format: without files and without 0x."""
    libraries = settings.get("libraries", {})
    return ";".join(
        f"{name.rpartition(':')[2]}:{str(address).removeprefix('0x')}"
        for name, address in libraries.items()
    )


def _source_code(contract: Contract, settings: Mapping[str, Any]) -> str:
    """Return the text of a single file if the other fields say how it was compiled; otherwise
    standard JSON in double braces."""
    sources = orjson.loads(contract.sources or "{}")
    if len(sources) == 1 and _are_plain(settings):
        [source] = sources.values()
        return str(source["content"])
    standard = standard_input(of_path(contract.path).name, sources, _standard(settings))
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
    """Return settings for standard JSON: with libraries by file, and an output selection."""
    libraries = libraries_by_file(settings.get("libraries", {}))
    outputs = ["abi", "evm.bytecode", "evm.deployedBytecode", "metadata"]
    return {**settings, "libraries": libraries, "outputSelection": {"*": {"*": outputs}}}
