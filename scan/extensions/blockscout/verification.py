"""Verification: forms of a source and how it was compiled, as submissions to the shared jobs.

Blockscout answers that a verification has started, and its clients read the contract until it is
verified.
"""

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from flask import request

from scan import parameters
from scan.errors import InvalidParameter, ScanError
from scan.extensions.blockscout.contracts import LICENSES
from scan.extensions.blockscout.routing import UNPROCESSABLE, routes
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.http import request_state, requests
from scan.json_bodies import MAX_SOURCES_BYTES, parse_json
from scan.queries import contracts
from scan.verification.languages.solidity import SOLIDITY, Language
from scan.verification.languages.vyper import EVM_VERSIONS as VYPER_EVM_VERSIONS
from scan.verification.languages.vyper import VYPER
from scan.verification.request import INTERFACE_SUFFIX, MAX_FILES
from scan.verification.settings_search import EVM_VERSIONS, dotted

WAIT_FOR_CONTRACT_S = 5.0  # clients verify what they have just deployed
STARTED = "Smart-contract verification started"
LEFT_EMPTY = ("", "undefined", "null")  # as FormData has what a page's script did not set
OFF = (False, "false", "0", 0)
# Blockscout's numbers of licences begin at 1, with none.
LICENSE_NAMES = {name: license for license, name in LICENSES.items()} | {"none": ""}
LICENSE_NUMBERS = {str(number): name for number, name in enumerate(["none", *LICENSES.values()], 1)}


class Method(NamedTuple):
    """A way of verification: what a form of it has as the source, and the compiler's language."""

    language: Language
    source: str


TEXT, STANDARD_JSON, FILES = "source_code", "a standard JSON input", "files"
METHODS = {
    "flattened-code": Method(SOLIDITY, TEXT),
    "standard-input": Method(SOLIDITY, STANDARD_JSON),
    "multi-part": Method(SOLIDITY, FILES),
    "vyper-code": Method(VYPER, TEXT),
    "vyper-standard-input": Method(VYPER, STANDARD_JSON),
    "vyper-multi-part": Method(VYPER, FILES),
}

blueprint = routes("verification")


class AlreadyVerified(ScanError):
    status = UNPROCESSABLE


@blueprint.path("/smart-contracts/verification/config")
def get_config() -> requests.Response:
    compilers = request_state.services().verifier.compilers
    versions = {
        language.name: [f"v{dotted(version)}" for version in compilers.of(language.kind).releases()]
        for language in (SOLIDITY, VYPER)
    }
    requests.reader().do_not_cache()
    return requests.json_value(
        {
            "solidity_compiler_versions": versions[SOLIDITY.name],
            "solidity_evm_versions": [*EVM_VERSIONS, "default"],
            "vyper_compiler_versions": versions[VYPER.name],
            "vyper_evm_versions": [*VYPER_EVM_VERSIONS, "default"],
            "verification_options": [*METHODS],
            "is_rust_verifier_microservice_enabled": True,  # which has the methods of several files
            "license_types": {name: int(number) for number, name in LICENSE_NUMBERS.items()},
        }
    )


@blueprint.path("/smart-contracts/<address_hash>/verification/via/<method>")
def verify(address_hash: str, method: str) -> requests.Response:
    """Submit a verification. Its id is that of Etherscan's and Sourcify's interfaces, which say why
    one failed."""
    way = METHODS[parameters.one_of(method, "method", tuple(METHODS))]
    address = parameters.address(address_hash, "address_hash")
    stored = contracts.get_or_index(requests.reader(), address, ())
    if stored.verifier is None and stored.is_full_match:
        raise AlreadyVerified("Already verified")
    fields = _fields()
    source = _source(way, fields)
    if fields.get("is_yul_contract") in (True, "true"):
        raise InvalidParameter("Yul is not compiled here.", field="is_yul_contract")
    submission = {"address": address_hash, "sourceCode": source, **_compilation(way, fields)}
    jobs = request_state.services().sources.get(VerificationJobs)
    job_id = jobs.submit(submission, requests.client_address(), wait_s=WAIT_FOR_CONTRACT_S)
    return requests.json_value({"message": STARTED, "verification_id": job_id})


def _fields() -> Mapping[str, Any]:
    """Return the fields of a form, or of a JSON body, without those that a browser's form left
    empty."""
    if request.mimetype == "application/json":
        request.max_content_length = MAX_SOURCES_BYTES
        return requests.json_object()
    fields = requests.form(max_fields=MAX_FILES + 50).items()
    return {name: value for name, value in fields if value not in LEFT_EMPTY}


def _compilation(way: Method, fields: Mapping[str, Any]) -> dict[str, object]:
    """Return how a source was compiled, in the fields of /api/v1/verify."""
    names_language = way.source == STANDARD_JSON and way.language is SOLIDITY  # or Yul
    given = {
        "language": None if names_language else way.language.name,
        "compilerVersion": fields.get("compiler_version"),
        "contractName": fields.get("contract_name"),
        "license": _license(fields.get("license_type")),
        "constructorArguments": _constructor_arguments(fields),
    }
    if way.source != STANDARD_JSON:  # which has its own settings
        given["evmVersion"] = fields.get("evm_version")
        given["libraries"] = _libraries(fields)
        if way.language is SOLIDITY:
            is_optimized = fields.get("is_optimization_enabled", False)
            given["optimizationUsed"] = is_optimized
            given["runs"] = fields.get("optimization_runs") if is_optimized not in OFF else None
    return {name: value for name, value in given.items() if value not in (None, "", {})}


def _constructor_arguments(fields: Mapping[str, Any]) -> object:
    """Return the arguments that are to be compared; they are detected without, too."""
    is_detected = fields.get("autodetect_constructor_args") in (True, "true")
    return None if is_detected else fields.get("constructor_args")


def _license(value: object) -> str | None:
    """Return the SPDX identifier of one of Blockscout's names or numbers of licences."""
    name = LICENSE_NUMBERS.get(str(value), str(value or "none"))
    return LICENSE_NAMES[parameters.one_of(name, "license_type", tuple(LICENSE_NAMES))]


def _libraries(fields: Mapping[str, Any]) -> object:
    """Return addresses by name: of one field with JSON, or of fields such as libraries[Name]."""
    given = fields.get("libraries") or {}
    if isinstance(given, str):
        given = _parsed(given, "libraries")
    named = {
        name.removeprefix("libraries[").removesuffix("]"): value
        for name, value in fields.items()
        if name.startswith("libraries[")
    }
    return {**given, **named} if isinstance(given, dict) else given


def _source(way: Method, fields: Mapping[str, Any]) -> object:
    """Return a single file's text, or a standard JSON input."""
    if way.source == TEXT:
        return fields.get("source_code")
    files = _files("files")
    if not files:
        raise InvalidParameter("files must have at least one file.", field="files")
    if way.source == STANDARD_JSON:
        [text, *others] = files.values()
        if others or not isinstance(_parsed(text, "files"), dict):
            raise InvalidParameter("files must be one standard JSON input.", field="files")
        return text
    interfaces = _files("interfaces") if way.language is VYPER else {}
    abis = {path: text for path, text in interfaces.items() if path.endswith(INTERFACE_SUFFIX)}
    sources = files | {path: text for path, text in interfaces.items() if path not in abis}
    standard = {
        "language": way.language.name,
        "sources": {path: {"content": text} for path, text in sources.items()},
        "interfaces": {path: {"abi": _parsed(text, "interfaces")} for path, text in abis.items()},
    }
    return json.dumps(standard)


def _files(field: str) -> dict[str, str]:
    """Return the texts of the uploads of a field (`files`, `files[]` or `files[0]`) by path."""
    texts: dict[str, str] = {}
    for name, file in request.files.items(multi=True):
        if name.partition("[")[0] != field:
            continue
        path = PurePosixPath(file.filename or "").as_posix()
        if path in texts:
            raise InvalidParameter(f"Two files are named {path[:100]!r}.", field=field)
        try:
            texts[path] = file.read().decode()
        except UnicodeDecodeError:
            raise InvalidParameter("A file is not UTF-8 text.", field=field) from None
    return texts


def _parsed(text: str, field: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        raise InvalidParameter(f"{field} is not valid JSON.", field=field) from None
