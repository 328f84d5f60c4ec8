"""Verified contracts: their list, one, and their counts; and verification: forms of a source and
how it was compiled, as submissions to the shared jobs. Blockscout answers that a verification has
started, and its clients read the contract until it is verified.
"""

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import orjson
from flask import request

from scan import parameters
from scan.contracts.abi_decoding import constructor_values
from scan.contracts.proxy_contracts import Proxy
from scan.errors import InvalidParameter, NotFound, ScanError
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout import address_and_token_objects, paths
from scan.extensions.blockscout.addresses_and_tokens import creation_status
from scan.extensions.blockscout.decoded_objects import shown
from scan.extensions.blockscout.paths import NAMES, UNPROCESSABLE, Routes, renamed, text, timestamp
from scan.extensions.search import views as search
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.hex import data, to_hex
from scan.http import request_bodies, services
from scan.http.current_request import client_address, reader
from scan.http.json_responses import Response, json_value
from scan.json_bodies import MAX_SOURCES_BYTES, parse_json
from scan.queries import addresses, blocks, contracts, network
from scan.verification.creation_comparison import preamble_of
from scan.verification.languages.solidity import SOLIDITY, Language
from scan.verification.languages.vyper import EVM_VERSIONS as VYPER_EVM_VERSIONS
from scan.verification.languages.vyper import VYPER
from scan.verification.request import INTERFACE_SUFFIX, MAX_FILES
from scan.verification.settings_search import EVM_VERSIONS, dotted

DAY_S = 86_400
LANGUAGES = ("solidity", "vyper", "yul", "geas")
NO_PROXY: paths.Record = {"proxy_type": None, "implementations": []}
NOT_CREATED = dict.fromkeys(("creation_bytecode", "creation_status", "conflicting_implementations"))
LICENSES = NAMES["licenses"]

blueprint = Routes("contracts")


@blueprint.path("/smart-contracts")
def list_contracts() -> Response:
    """Return verified contracts, or those that match the text `q`, on one page."""
    query, language, window = (text("q"), paths.one_of("filter", LANGUAGES), paths.first_window())
    for name in ("sort", "order"):
        text(name)  # by balances and counts, which have no index: the order stays
    if query is None:
        page = contracts.verified_page(reader(), window._replace(cursor=text("cursor")))
        listed = [record["address"] for record in orjson.loads(page.data)]
        following = None if page.next is None else {"cursor": page.next}
    else:
        results = orjson.loads(search.search(reader(), query))
        listed = [result["value"] for result in results if result["verified"]][: window.limit]
        following = None
    rows = [(a, contracts.get(reader(), data(a), {"settings"})) for a in listed]
    objects = address_and_token_objects.AddressObjects(listed)
    accounts = addresses.get_many(reader(), [*map(data, listed)])
    balances = {a: account.balance.known for a, account in zip(listed, accounts, strict=True)}
    items = [
        {
            "address": objects.of(address),
            **_compiler_fields(contract),
            "transactions_count": addresses.counts(reader(), data(address), 0)["transactions"],
            "market_cap": None,
            "coin_balance": balance.wei if (balance := balances[address]) else None,
        }
        for address, contract in rows
        if language in (None, contracts.language_of(contract).lower())
    ]
    return paths.list_response(items, following)


@blueprint.path("/smart-contracts/counters")
def get_counters() -> Response:
    """Return counts; contracts created by contracts count as far as their blocks have traces."""
    totals, created = network.totals(reader()), 0
    newest = blocks.get(reader(), None)
    if newest is not None:  # of the day before the newest block
        time_s = parameters.time_s(orjson.loads(newest)["timestamp"], "timestamp")
        first = blocks.nearest(reader(), max(time_s - DAY_S, 0)).after
        [created] = reader().row("queries/contract_creations_count_since", block_number=first)
    return json_value(renamed("contract_counters", {**totals, "created": created}))


@blueprint.path("/smart-contracts/<address_hash>")
def get_contract(address_hash: str) -> Response:
    key = paths.path_address(address_hash)
    columns = {"code", "settings", "abi", "sources"}
    contract, lookup = contracts.get_with_proxy(reader(), key, columns)
    delegate = addresses.parties(reader(), [key])[to_hex(key)].get("delegate")
    if delegate:  # which runs in place of the account's own code (EIP-7702)
        code = to_hex(DELEGATION + data(delegate))
        fields = _proxy_fields(address_and_token_objects.delegating(delegate))
        return json_value({**NOT_CREATED, "deployed_bytecode": code, **fields})
    status = creation_status(contracts.indexed(reader(), key), contract.code_hash is not None)
    if status is None:
        raise NotFound("No contract is indexed at this address.")
    proxy = lookup.proxy
    code_fields = {
        **NOT_CREATED,
        "deployed_bytecode": None if contract.code is None else to_hex(bytes(contract.code)),
        "creation_status": status,
        **(_proxy_fields(proxy) if proxy else NO_PROXY),
    }
    if not contract.has_source:
        return json_value(code_fields)
    is_blueprint = preamble_of(bytes(contract.code or b"")) is not None
    fields = {**_source_fields(contract), "is_blueprint": is_blueprint}
    is_minimal = proxy is not None and proxy.kind in address_and_token_objects.MINIMAL
    is_elsewhere = is_minimal and not contracts.get(reader(), key, ()).is_verified
    if is_elsewhere or not contract.is_verified:
        fields |= renamed("unverified", {})  # the source is not of all of the contract's own code
    return json_value({**code_fields, **fields})


def _proxy_fields(proxy: Proxy) -> paths.Record:
    fields = address_and_token_objects.proxy_fields(proxy)
    return {name: fields[name] for name in NO_PROXY}


def _compiler_fields(contract: contracts.Contract) -> paths.Record:
    settings = orjson.loads(contract.settings or "{}")
    return {
        "compiler_version": f"v{contract.compiler_version}",
        "optimization_enabled": bool(settings.get("optimizer", {}).get("enabled")),
        "language": contracts.language_of(contract).lower(),
        "verified_at": contract.verified_at and timestamp(contract.verified_at),
        "has_constructor_args": bool(contract.constructor_arguments),
        "license_type": LICENSES.get(contract.license or ""),
        "certified": False,
        "reputation": None,
    }


def _source_fields(contract: contracts.Contract) -> paths.Record:
    settings = orjson.loads(contract.settings or "{}")
    sources = orjson.loads(contract.sources or "{}")
    abi = orjson.loads(contract.abi or "[]")
    arguments = bytes(contract.constructor_arguments or b"")
    is_full = contract.match == "full"
    return {
        **_compiler_fields(contract),
        **renamed("verified_contract", {}),
        "name": contract.name,
        "file_path": contract.path,
        "source_code": _content(sources.get(contract.path)),
        "additional_sources": [
            {"file_path": path, "source_code": _content(source)}
            for path, source in sources.items()
            if path != contract.path
        ],
        "compiler_settings": settings,
        "optimization_runs": settings.get("optimizer", {}).get("runs"),
        "evm_version": settings.get("evmVersion"),
        "abi": abi,
        "constructor_args": to_hex(arguments) if arguments else None,
        "decoded_constructor_args": _arguments(abi, arguments),
        "external_libraries": [
            {"name": name.rpartition(":")[2], "address_hash": checksummed(str(library).lower())}
            for name, library in settings.get("libraries", {}).items()
        ],
        "is_fully_verified": is_full,
        "is_partially_verified": not is_full,
        "verified_twin_address_hash": contract.verifier
        and checksummed(to_hex(bytes(contract.verifier))),
    }


def _content(source: Mapping[str, Any] | None) -> str | None:
    return None if source is None else str(source["content"])


def _arguments(abi: list[Any], arguments: bytes) -> list[list[Any]] | None:
    values = constructor_values(abi, arguments) if arguments else None
    if values is None:
        return None
    return [
        [shown(value.value, value.type), {"name": value.name, "type": value.type}]
        for value in values
    ]


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

    def form_field(self, field: str | None) -> str:
        """Return what Blockscout's pages call the field of their form that an error is about: that
        of the source unless it is another one."""
        if field in FORM_FIELDS:
            return FORM_FIELDS[field]
        return "contract_source_code" if self.source == TEXT else "files"


FORM_FIELDS = {"compilerVersion": "compiler_version"}
TEXT, STANDARD_JSON, FILES = "source_code", "a standard JSON input", "files"
METHODS = {
    "flattened-code": Method(SOLIDITY, TEXT),
    "standard-input": Method(SOLIDITY, STANDARD_JSON),
    "multi-part": Method(SOLIDITY, FILES),
    "vyper-code": Method(VYPER, TEXT),
    "vyper-standard-input": Method(VYPER, STANDARD_JSON),
    "vyper-multi-part": Method(VYPER, FILES),
}

verification_views = Routes("verification")


class AlreadyVerified(ScanError):
    status = UNPROCESSABLE


@verification_views.path("/smart-contracts/verification/config")
def get_config() -> Response:
    compilers = services.services().verifier.compilers
    versions = {
        language.name: [f"v{dotted(version)}" for version in compilers.of(language.kind).releases()]
        for language in (SOLIDITY, VYPER)
    }
    reader().do_not_cache()
    fields = {
        "solidity_compiler_versions": versions[SOLIDITY.name],
        "solidity_evm_versions": [*EVM_VERSIONS, "default"],
        "vyper_compiler_versions": versions[VYPER.name],
        "vyper_evm_versions": [*VYPER_EVM_VERSIONS, "default"],
        "verification_options": [*METHODS],
        "is_rust_verifier_microservice_enabled": True,  # which has the methods of several files
        "license_types": {name: int(number) for number, name in LICENSE_NUMBERS.items()},
    }
    return json_value(fields)


@verification_views.path("/smart-contracts/<address_hash>/verification/via/<method>")
def verify(address_hash: str, method: str) -> Response:
    """Submit a verification. Its id is that of Etherscan's and Sourcify's interfaces, which say why
    one failed. What is refused has an id, too: Blockscout's pages show no other error than that of
    a verification that has started."""
    way = METHODS[parameters.one_of(method, "method", tuple(METHODS))]
    address = parameters.address(address_hash, "address_hash")
    jobs = services.services().sources.get(VerificationJobs)
    try:
        job_id = _submit(jobs, way, address)
    except ScanError as error:
        message, field = error.message, way.form_field(error.field)
        job_id = jobs.refuse(address, client_address(), message, field)
        if isinstance(error, AlreadyVerified):
            raise
    return json_value({"message": STARTED, "verification_id": job_id})


def _submit(jobs: VerificationJobs, way: Method, address: bytes) -> str:
    stored = contracts.get_or_index(reader(), address, ())
    if stored.verifier is None and stored.is_full_match:
        raise AlreadyVerified("Already verified")
    fields = _fields()
    source = _source(way, fields)
    if fields.get("is_yul_contract") in (True, "true"):
        raise InvalidParameter("Yul is not compiled here.", field="is_yul_contract")
    submission = {"address": to_hex(address), "sourceCode": source, **_compilation(way, fields)}
    return jobs.submit(
        submission, client_address(), wait_s=WAIT_FOR_CONTRACT_S, form_field=way.form_field(None)
    )


def _fields() -> Mapping[str, Any]:
    """Return the fields of a form, or of a JSON body, without those that a browser's form left
    empty."""
    if request.mimetype == "application/json":
        request.max_content_length = MAX_SOURCES_BYTES
        return request_bodies.json_object()
    fields = request_bodies.form(max_fields=MAX_FILES + 50).items()
    return {name: value for name, value in fields if value not in LEFT_EMPTY}


def _compilation(way: Method, fields: Mapping[str, Any]) -> dict[str, object]:
    """Return how a source was compiled, in the fields of /api/v1/verify."""
    names_language = way.source == STANDARD_JSON and way.language is SOLIDITY  # or Yul
    # Those that are given are compared; they are detected without, too.
    is_detected = fields.get("autodetect_constructor_args") in (True, "true")
    licence = fields.get("license_type")  # one of Blockscout's names or numbers
    licence = LICENSE_NUMBERS.get(str(licence), str(licence or "none"))
    settings = {
        "language": None if names_language else way.language.name,
        "compilerVersion": fields.get("compiler_version"),
        "contractName": fields.get("contract_name"),
        "license": LICENSE_NAMES[parameters.one_of(licence, "license_type", tuple(LICENSE_NAMES))],
        "constructorArguments": None if is_detected else fields.get("constructor_args"),
    }
    if way.source != STANDARD_JSON:  # which has its own settings
        settings["evmVersion"] = fields.get("evm_version")
        settings["libraries"] = _libraries(fields)
        if way.language is SOLIDITY:
            is_optimized = fields.get("is_optimization_enabled", False)
            settings["optimizationUsed"] = is_optimized
            settings["runs"] = fields.get("optimization_runs") if is_optimized not in OFF else None
    return {name: value for name, value in settings.items() if value not in (None, "", {})}


def _libraries(fields: Mapping[str, Any]) -> object:
    """Return addresses by name: of one field with JSON, or of fields such as libraries[Name]."""
    libraries = fields.get("libraries") or {}
    if isinstance(libraries, str):
        libraries = _parsed(libraries, "libraries")
    by_name = {
        name.removeprefix("libraries[").removesuffix("]"): value
        for name, value in fields.items()
        if name.startswith("libraries[")
    }
    return {**libraries, **by_name} if isinstance(libraries, dict) else libraries


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
    for text in abis.values():
        _parsed(text, "interfaces")
    sources = files | {path: text for path, text in interfaces.items() if path not in abis}
    standard = {
        "language": way.language.name,
        "sources": {path: {"content": text} for path, text in sources.items()},
        "interfaces": {path: {"content": text} for path, text in abis.items()},
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
