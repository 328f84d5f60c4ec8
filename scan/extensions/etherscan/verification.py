"""module=contract: verification jobs, shared by all interfaces, and implementations of proxies."""

import re
from collections.abc import Mapping

from scan.errors import NotFound
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.extensions.etherscan.replies import Failure, Parameters, Reply
from scan.hex import to_hex
from scan.http.request_state import services
from scan.http.requests import client_address, reader
from scan.queries import contracts
from scan.verification.contract_match import RUNTIME
from scan.verification.languages.vyper import VYPER

# Clients poll every 3 to 15 s, and an anonymous client has ten requests a minute.
WAIT_FOR_CONTRACT_S = 10.0
WAIT_FOR_JOB_S = 25.0
STANDARD_JSON, SINGLE_FILE = "solidity-standard-json-input", "solidity-single-file"
VYPER_JSON = "vyper-json"
VYPER_PREFIX = "vyper:"  # of a compiler's version; then a single file is Vyper, too
PENDING = "Pending in queue"
VERIFIED = "Pass - Verified"
FAILED = "Fail - Unable to verify. "
WRONG_ARGUMENTS = FAILED + "These are not the correct constructor arguments: "
UNKNOWN = "Unknown UID"
NO_IMPLEMENTATION = (
    "A corresponding implementation contract was unfortunately not detected for the proxy address."
)
MOST_LIBRARIES = 10
LICENSES = (
    "", "", "Unlicense", "MIT", "GPL-2.0", "GPL-3.0", "LGPL-2.1", "LGPL-3.0", "BSD-2-Clause",
    "BSD-3-Clause", "MPL-2.0", "OSL-3.0", "Apache-2.0", "AGPL-3.0", "BUSL-1.1",
)  # fmt: skip

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
    """Return the result of a job after waiting for its end. A failure has status 0: with 1 some
    clients report success. As with Etherscan, a match of the runtime code alone is a failure, too,
    although it is stored."""
    job = services().sources.get(VerificationJobs).wait(parameters.text("guid"), WAIT_FOR_JOB_S)
    if job is None:
        raise Failure(UNKNOWN)
    if not job.is_over:
        raise Failure(PENDING)
    if job.status == "failed" or job.match == RUNTIME:
        raise Failure(FAILED + (job.message or ""))
    if job.warning:
        raise Failure(WRONG_ARGUMENTS + job.warning)
    return Reply(VERIFIED)


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
    version = parameters.required("compilerversion")
    is_vyper = code_format == VYPER_JSON or version.lower().startswith(VYPER_PREFIX)
    values = {
        "language": VYPER.name if is_vyper else "",
        "sourceCode": parameters.exact("sourcecode"),
        "compilerVersion": version,
        "contractName": parameters.text("contractname"),
        "constructorArguments": _arguments(parameters),
        "license": _license(parameters.text("licensetype")),
    }
    if code_format == SINGLE_FILE:
        values |= {
            "optimizationUsed": parameters.text("optimizationused"),
            "runs": parameters.text("runs"),
            "evmVersion": parameters.text("evmversion"),
        }
    request: dict[str, object] = {name: value for name, value in values.items() if value}
    return {"address": address, **request, "libraries": _libraries(parameters)}


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


def _license(value: str) -> str:
    """Return the license's name; Etherscan numbers the licenses."""
    numbers = {str(number): name for number, name in enumerate(LICENSES)}
    return numbers.get(value, value)


def _libraries(parameters: Parameters) -> Mapping[str, str]:
    libraries = {}
    for number in range(1, MOST_LIBRARIES + 1):
        name = parameters.text(f"libraryname{number}")
        if name:
            libraries[name] = to_hex(parameters.address(f"libraryaddress{number}"))
    return libraries
