"""module=contract: ABIs and sources of verified contracts, implementations of proxies, and with
action=getcontractcreation creator, transaction and creation code."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.proxy_contracts import delegating_account
from scan.errors import UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.transaction_reader import IndexedTransaction, TransactionUnavailable
from scan.extensions.etherscan.replies import Failure, Parameters, Reply, renamed, rows_reply
from scan.extensions.etherscan.verification import VYPER_PREFIX
from scan.extensions.internal_transfers.traces import is_creation, walk_calls
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.queries import contracts
from scan.queries.pages import Window
from scan.queries.reader import Reader
from scan.verification.languages import language_of_path, standard_input, vyper

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
    address = parameters.address()
    contract, (proxy, _) = contracts.get_with_proxy(
        reader(), address, {"settings", "abi", "sources"}
    )
    if contract.code is None:
        reader().do_not_cache()
        proxy = delegating_account(reader().node, address)
    row = _row(contract) if contract.is_verified else NOTHING
    if contract.warning is not None:
        row = {**row, "Warning": contract.warning}
    if proxy is not None and (contract.is_verified or contract.code is None):
        row = {**row, "Proxy": "1", "Implementation": to_hex(proxy.implementation)}
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


def _row(contract: contracts.Contract) -> dict[str, str]:
    settings = orjson.loads(contract.settings or "{}")
    optimizer = settings.get("optimizer", {})
    return {
        **NOTHING,
        "SourceCode": _source_code(contract, settings),
        "ABI": orjson.dumps(orjson.loads(contract.abi or "[]")).decode(),
        "ContractName": contract.name,
        "CompilerVersion": _compiler_version(contract),
        "CompilerType": language_of_path(contract.path).kind.name,
        "OptimizationUsed": "1" if optimizer.get("enabled") else "0",
        "Runs": str(optimizer.get("runs", DEFAULT_RUNS)),
        "ConstructorArguments": bytes(contract.constructor_arguments or b"").hex(),
        "EVMVersion": settings.get("evmVersion") or "Default",
        "Library": _libraries(settings),
        "ContractFileName": contract.path,
        "LicenseType": contract.license or "",
        "SimilarMatch": to_hex(bytes(contract.verifier)) if contract.verifier else "",
    }


def _compiler_version(contract: contracts.Contract) -> str:
    """Return the version as Etherscan writes it: v0.8.26+commit.8a97fa7a, vyper:0.4.3."""
    prefix = VYPER_PREFIX if language_of_path(contract.path) is vyper.VYPER else "v"
    return f"{prefix}{contract.compiler_version}"


def _libraries(settings: Mapping[str, Any]) -> str:
    """Return `Name:address;…`, in Etherscan's format: without files and without 0x."""
    libraries = settings.get("libraries", {})
    return ";".join(
        f"{name.rpartition(':')[2]}:{str(address).removeprefix('0x')}"
        for name, address in libraries.items()
    )


def _source_code(contract: contracts.Contract, settings: Mapping[str, Any]) -> str:
    """Return the text of a single file if the other fields say how it was compiled; otherwise
    standard JSON in double braces."""
    sources = orjson.loads(contract.sources or "{}")
    if len(sources) == 1 and _are_plain(settings):
        [source] = sources.values()
        return str(source["content"])
    standard = standard_input(language_of_path(contract.path).name, sources, _standard(settings))
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
    libraries = contracts.libraries_by_file(settings.get("libraries", {}))
    outputs = ["abi", "evm.bytecode", "evm.deployedBytecode", "metadata"]
    return {**settings, "libraries": libraries, "outputSelection": {"*": {"*": outputs}}}


MOST_CONTRACTS = 5
NO_DATA = "No data found"
TRACER = {"tracer": "callTracer"}


class ContractCreation(NamedTuple):
    """Addresses, hashes and code are hex. `creator` sent the transaction; `factory` is the contract
    that created this one, None where the transaction itself did."""

    address: str
    creator: str
    factory: str | None
    transaction_hash: str
    block_number: str
    timestamp: str  # Unix time
    code: str


def contract_creations(parameters: Parameters) -> Reply:
    addresses = parameters.addresses("contractaddresses", MOST_CONTRACTS)
    rows = _contract_creations(reader(), addresses)
    if not rows:
        raise Failure(None, NO_DATA)
    return Reply(
        [
            renamed("creation", creation._asdict()) | {"contractFactory": creation.factory or ""}
            for creation in rows
        ]
    )


def _contract_creations(reader: Reader, addresses: Sequence[bytes]) -> list[ContractCreation]:
    """Return the creations of contracts, in the order of `addresses`; one that neither a
    transaction nor a trace shows is left out. Raises UpstreamFailed, Unavailable.
    """
    [records] = reader.row("queries/contracts_get_creations", addresses=addresses)
    rows = orjson.loads(records)
    creations = _transaction_creations(reader, [row for row in rows if row["hash"] is not None])
    in_blocks = defaultdict(list)
    for row in rows:
        if row["hash"] is None:
            in_blocks[row["blockNumber"]].append(row)
    for in_block in in_blocks.values():
        creations |= _trace_creations(reader, in_block)
    return [creations[row["address"]] for row in rows if row["address"] in creations]


def _transaction_creations(
    reader: Reader, rows: Sequence[Mapping[str, Any]]
) -> dict[str, ContractCreation]:
    needed = [
        IndexedTransaction(
            row["hash"], int(row["blockNumber"]), row["blockHash"], row["transactionIndex"], None
        )
        for row in rows
    ]
    try:
        sent = reader.sources.block_bodies.transactions(reader.node, needed)
    except TransactionUnavailable:
        raise UpstreamFailed("The node did not return the transaction.") from None
    codes = {row["hash"]: to_hex(sent[row["hash"]].input) for row in rows}
    return {
        row["address"]: _creation(row, row["from"], None, row["hash"], codes[row["hash"]])
        for row in rows
    }


def _trace_creations(
    reader: Reader, rows: Sequence[Mapping[str, Any]]
) -> dict[str, ContractCreation]:
    """Return the creations in the block where the code was first seen; none without traces."""
    if reader.sources.traces == "off":
        return {}
    number = hex(int(rows[0]["blockNumber"]))
    whole, traces = reader.node.results(
        [
            Call("eth_getBlockByNumber", (number, True)),
            Call("debug_traceBlockByNumber", (number, TRACER)),
        ]
    )
    if isinstance(traces, RpcError) and traces.is_missing_method:
        return {}
    try:
        if whole["hash"] != rows[0]["blockHash"]:
            raise TypeError
        by_address = {row["address"]: row for row in rows}
        creations = {}
        for transaction, trace in zip(whole["transactions"], traces, strict=True):
            if trace.get("result") is None:  # the node did not trace this transaction
                reader.do_not_cache()
                continue
            for frame in walk_calls(trace["result"]):
                row = by_address.get(str(frame.call.get("to")).lower())
                if row and not frame.undone and is_creation(frame.call["type"]):
                    creations[row["address"]] = _creation(
                        row,
                        transaction["from"],
                        str(frame.call["from"]).lower(),
                        transaction["hash"],
                        str(frame.call["input"]),
                    )
        return creations
    except (KeyError, TypeError, AttributeError, ValueError):
        reader.do_not_cache()  # refused, malformed, or of another chain: a later answer may be good
        return {}


def _creation(
    row: Mapping[str, Any], creator: str, factory: str | None, transaction_hash: str, code: str
) -> ContractCreation:
    address, number, timestamp = row["address"], row["blockNumber"], row["timestamp"]
    return ContractCreation(address, creator, factory, transaction_hash, number, timestamp, code)
