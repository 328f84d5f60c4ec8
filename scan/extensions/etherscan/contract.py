"""module=contract: ABIs and sources of verified contracts, implementations of proxies, creations
(creator, transaction and creation code), and verification jobs, shared by all interfaces."""

import re
from collections.abc import Mapping
from typing import Any

import orjson
from flask import request

from scan.contracts.proxy_contracts import delegating_account
from scan.errors import NotFound, TracesUnavailable
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.etherscan.replies import Failure, Parameters, Reply, renamed, rows_reply
from scan.extensions.traces.transaction_traces import TransactionTraces
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.hex import data, to_hex
from scan.http.current_request import client_address, reader
from scan.http.services import services
from scan.queries import blocks, contracts
from scan.queries.list_pages import Window
from scan.verification.contract_match import RUNTIME
from scan.verification.languages import language_of_path, standard_input, vyper
from scan.verification.verifier import IS_OF_OTHER_COMMIT

NOT_VERIFIED = "Contract source code not verified"
DEFAULT_RUNS = 200
MOST_LISTED = 50  # contracts with their ABIs
_PLAIN_SETTINGS = {"optimizer", "evmVersion", "remappings", "libraries", "metadata"}
_PLAIN_METADATA: tuple[object, ...] = ({}, {"bytecodeHash": "ipfs"}, {"bytecodeHash": "bzzr1"})


def abi(parameters: Parameters) -> Reply:
    contract, _ = contracts.get_with_proxy(reader(), parameters.address(), {"abi"})
    if not _is_shown(contract):
        raise Failure(NOT_VERIFIED)
    return Reply(orjson.dumps(orjson.loads(contract.abi or "[]")).decode())


def _is_shown(contract: contracts.Contract) -> bool:
    """Return whether this form has the source: also of one that is similar to a verified contract,
    unless its constructor is known to be another."""
    return contract.is_verified or bool(contract.is_similar)


def source_code(parameters: Parameters) -> Reply:
    address = parameters.address()
    columns = {"settings", "abi", "sources"}
    contract, (proxy, _) = contracts.get_with_proxy(reader(), address, columns)
    if contract.code is None:
        reader().do_not_cache()
        proxy = delegating_account(reader().node, address, reader().once(blocks.newest))
    row = _row(contract) if _is_shown(contract) else renamed("source", {"ABI": NOT_VERIFIED})
    if contract.verifier:
        row = {**row, "SimilarMatch": to_hex(bytes(contract.verifier))}
    if proxy is not None and (_is_shown(contract) or contract.code is None):
        implementation = {"Implementation": to_hex(proxy.implementation)}
        row = {**row, "Proxy": "1", **implementation, "ImplementationEvidence": proxy.evidence}
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
        rows.append({"Address": record["address"], **_summary(contract)})
    return rows_reply(rows, "No contracts found", page.total)


def _summary(contract: contracts.Contract) -> dict[str, str]:
    optimizer = orjson.loads(contract.settings or "{}").get("optimizer", {})
    # Etherscan writes v0.8.26+commit.8a97fa7a, but vyper:0.4.3.
    prefix = VYPER_PREFIX if language_of_path(contract.path) is vyper.VYPER else "v"
    return {
        "ABI": orjson.dumps(orjson.loads(contract.abi or "[]")).decode(),
        "ContractName": contract.name,
        "CompilerVersion": f"{prefix}{contract.compiler_version}",
        "OptimizationUsed": "1" if optimizer.get("enabled") else "0",
    }


def _row(contract: contracts.Contract) -> dict[str, str]:
    settings = orjson.loads(contract.settings or "{}")
    optimizer = settings.get("optimizer", {})
    return {
        **renamed("source", {"ABI": ""}),
        **_summary(contract),
        "SourceCode": _source_code(contract, settings),
        "CompilerType": language_of_path(contract.path).kind.name,
        "Runs": str(optimizer.get("runs", DEFAULT_RUNS)),
        "ConstructorArguments": bytes(contract.constructor_arguments or b"").hex(),
        "EVMVersion": settings.get("evmVersion") or "Default",
        "Library": _libraries(settings),
        "ContractFileName": contract.path,
        "LicenseType": contract.license or "",
    }


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
    outputs = ["abi", "evm.bytecode", "evm.deployedBytecode", "metadata"]
    added = {"libraries": settings.get("libraries", {}), "outputSelection": {"*": {"*": outputs}}}
    standard = standard_input(contract.path, sources, {**settings, **added})
    return f"{{{orjson.dumps(standard).decode()}}}"


def _are_plain(settings: Mapping[str, Any]) -> bool:
    return (
        settings.keys() <= _PLAIN_SETTINGS
        and not settings.get("libraries")
        and not settings.get("remappings")
        and settings.get("metadata", {}) in _PLAIN_METADATA
        and settings.get("optimizer", {}).keys() <= {"enabled", "runs"}
    )


MOST_CONTRACTS = 5
NO_DATA = "No data found"


def contract_creations(parameters: Parameters) -> Reply:
    """Return the creations of contracts, in the order of their addresses. One that is not indexed
    is left out; the code of one that a contract made is empty where no trace has it whole. Raises
    UpstreamFailed, Unavailable."""
    addresses = parameters.addresses("contractaddresses", MOST_CONTRACTS)
    [text] = reader().row("queries/contracts_get_creations", addresses=addresses)
    rows = []
    for row in orjson.loads(text):
        factory = row.pop("contractFactory")
        position = (row.pop(name) for name in ("blockHash", "transactionIndex", "to"))
        sent = IndexedTransaction(row["txHash"], int(row["blockNumber"]), *position)
        code = _creation_code(
            sent, data(row["contractAddress"]), is_by_contract=factory is not None
        )
        code_text = "" if code is None else to_hex(code)
        rows.append({**row, "creationBytecode": code_text, "contractFactory": factory or ""})
    if not rows:
        raise Failure(None, NO_DATA)
    return Reply(rows)


def _creation_code(
    sent: IndexedTransaction, address: bytes, *, is_by_contract: bool
) -> bytes | None:
    sources, node = reader().sources, reader().node
    if not is_by_contract:
        contents = sources.transaction_contents
        return contents.transaction(node, sent, with_receipts=False).input
    try:
        return sources.get(TransactionTraces).calls(node, sent).creation_input(address)
    except TracesUnavailable:
        reader().do_not_cache()  # the node may have one later
        return None


# Clients poll every 3 to 15 s, and an anonymous client has ten requests a minute.
WAIT_FOR_CONTRACT_S = 10.0
WAIT_FOR_JOB_S = 25.0
STANDARD_JSON, SINGLE_FILE = "solidity-standard-json-input", "solidity-single-file"
VYPER_JSON = "vyper-json"
VYPER_PREFIX = "vyper:"  # of a compiler's version; then a single file is Vyper, too
PENDING = "Pending in queue"
VERIFIED = "Pass - Verified"
REFUSED = "Fail - Unable to verify"
UNKNOWN = "Unknown UID"
NO_IMPLEMENTATION = (
    "A corresponding implementation contract was unfortunately not detected for the proxy address."
)
MOST_LIBRARIES = 10
_LICENSES = (
    "", "", "Unlicense", "MIT", "GPL-2.0", "GPL-3.0", "LGPL-2.1", "LGPL-3.0", "BSD-2-Clause",
    "BSD-3-Clause", "MPL-2.0", "OSL-3.0", "Apache-2.0", "AGPL-3.0", "BUSL-1.1",
)  # fmt: skip
LICENSE_NUMBERS = {str(number): name for number, name in enumerate(_LICENSES)}  # Etherscan's

_PROXY_CHECK = re.compile(r"proxy-([0-9a-f]{40})-([0-9a-f]{40}|any)")


def verify_source(parameters: Parameters) -> Reply:
    """Submit a verification, and return its guid for verification_status()."""
    address = parameters.address("contractaddress")
    request = _request(parameters, to_hex(address))
    contracts.get_or_index(reader(), address, ())
    try:
        jobs = services().sources.get(VerificationJobs)
        job_id = jobs.submit(request, client_address(), wait_s=WAIT_FOR_CONTRACT_S)
    except NotFound:
        raise Failure(f"Unable to locate ContractCode at {to_hex(address)}") from None
    return Reply(job_id)


def verification_status(parameters: Parameters) -> Reply:
    """Return the result of a job after waiting for its end. As with Etherscan, a match of the
    runtime code alone is a failure, too, although it is stored."""
    job = services().sources.get(VerificationJobs).wait(parameters.text("guid"), WAIT_FOR_JOB_S)
    if job is None:
        raise Failure(UNKNOWN)
    if not job.is_over:
        raise Failure(PENDING)
    if job.status == "failed" or job.match == RUNTIME:
        return _refused(parameters, job.message)
    is_of_other = IS_OF_OTHER_COMMIT in (job.message or "")
    return Reply(VERIFIED, details=job.message if is_of_other else None)


def _refused(parameters: Parameters, details: str | None) -> Reply:
    """Return the refusal of a source. Etherscan's requests name the chain, and forge posts its own:
    it takes status 1 for success. Others are in Blockscout's form, whose status is 1 as a job was
    found: Hardhat's class for it compares the text only then."""
    is_blockscouts = request.method == "GET" and not parameters.text("chainid")
    status, message = ("1", "OK") if is_blockscouts else ("0", "NOTOK")
    return Reply(REFUSED, status, message, details=details)


def verify_proxy(parameters: Parameters) -> Reply:
    """Return a guid that contains the addresses; proxy_status() reads the chain's state by it."""
    expected = parameters.optional_address("expectedimplementation")
    return Reply(f"proxy-{parameters.address().hex()}-{expected.hex() if expected else 'any'}")


def proxy_status(parameters: Parameters) -> Reply:
    guid = _PROXY_CHECK.fullmatch(parameters.text("guid").lower())
    if guid is None:
        raise Failure(UNKNOWN)
    address, expected = bytes.fromhex(guid[1]), guid[2]
    proxy = contracts.proxy_of(reader(), address, contracts.get(reader(), address, {"code"})).proxy
    if proxy is None or expected not in ("any", proxy.implementation.hex()):
        raise Failure(NO_IMPLEMENTATION)
    return Reply(
        f"The proxy's ({to_hex(address)}) implementation contract is found at"
        f" {to_hex(proxy.implementation)} and is successfully updated."
    )


def _request(parameters: Parameters, address: str) -> dict[str, object]:
    """Return the parameters as a body of /api/v1/verify; a standard JSON input has its own
    settings."""
    code_format = parameters.text("codeformat", SINGLE_FILE).lower()
    if code_format not in (STANDARD_JSON, SINGLE_FILE, VYPER_JSON):
        raise Failure(f"Error! codeformat must be {STANDARD_JSON}, {SINGLE_FILE} or {VYPER_JSON}")
    parameters.required("sourcecode")
    version, license_ = parameters.required("compilerversion"), parameters.text("licensetype")
    is_vyper = code_format == VYPER_JSON or version.lower().startswith(VYPER_PREFIX)
    values = {
        "language": vyper.VYPER.name if is_vyper else "",
        "sourceCode": parameters.exact("sourcecode"),
        "compilerVersion": version,
        "contractName": parameters.text("contractname"),
        "constructorArguments": _arguments(parameters),
        "license": LICENSE_NUMBERS.get(license_, license_),
    }
    if code_format == SINGLE_FILE:
        values |= {
            "optimizationUsed": parameters.text("optimizationused"),
            "runs": parameters.text("runs"),
            "evmVersion": parameters.text("evmversion"),
        }
    request: dict[str, object] = {name: value for name, value in values.items() if value}
    return {"address": address, **request, "libraries": _linked_libraries(parameters)}


def _arguments(parameters: Parameters) -> str:
    """Return the constructor's arguments. Etherscan misspells the parameter's name, and some
    clients send both spellings."""
    spellings = {
        parameters.text(name).lower().removeprefix("0x")
        for name in ("constructorarguements", "constructorarguments")
    } - {""}
    if len(spellings) > 1:
        raise Failure("Error! constructorArguements and constructorArguments differ")
    return next(iter(spellings), "")


def _linked_libraries(parameters: Parameters) -> Mapping[str, str]:
    libraries = {}
    for number in range(1, MOST_LIBRARIES + 1):
        name = parameters.text(f"libraryname{number}")
        if name:
            libraries[name] = to_hex(parameters.address(f"libraryaddress{number}"))
    return libraries
