"""Verification, compilers, and contracts: their source, bytecode, values, calls."""

import orjson
from flask import Blueprint, request

from scan import json_bodies, parameters
from scan.contracts.abi_decoding import constructor_values
from scan.errors import InvalidParameter, NotFound
from scan.hex import to_hex
from scan.http import request_bodies, services
from scan.http.current_request import (
    block_argument,
    client_address,
    note_changed_index,
    query_arguments,
    reader,
)
from scan.http.json_responses import Response, json_fragment, json_value
from scan.http.list_responses import LISTED, add_list, list_response
from scan.http.prerequisites import Prerequisite, requires
from scan.queries import contracts
from scan.verification.contract_match import RUNTIME
from scan.verification.languages import solidity, vyper
from scan.verification.request import parse
from scan.verification.settings_search import dotted
from scan.verification.verifier import message, verify

MAX_ARGUMENTS = 1000
STORED = frozenset({"settings", "abi", "sources"})
blueprint = Blueprint("contracts", __name__)
add_list(blueprint, "/contract-creations", "contract_creations")


@blueprint.post("/verify")
@requires(Prerequisite.LONG_WAIT)
def verify_contract() -> Response:
    query_arguments()
    request.max_content_length = json_bodies.MAX_SOURCES_BYTES
    submission = parse(request_bodies.json_object())
    contracts.get_or_index(reader(), submission.address, ())
    with services.services().waiting_threads.place_for_long(client_address()):
        verified = verify(services.services().verifier, submission, client_address())
    if verified.stored:
        note_changed_index()
    answer = {
        "success": True,
        "message": message(verified),
        "address": to_hex(verified.submission.address),
        "match": verified.match,
        "creationMatch": False if verified.match == RUNTIME else verified.creation.match,
        "contractName": verified.contract_name,
        "filePath": verified.file_path,
        "compilerVersion": verified.compiler_version,
        "settings": verified.settings,
        "constructorArguments": hex_or_none(verified.creation.constructor_arguments),
    }
    return json_value(answer)


@blueprint.get("/contracts")
def list_contracts() -> Response:
    return list_response(
        "contracts",
        query_arguments(*LISTED),
        lambda window: contracts.verified_page(reader(), window),
    )


@blueprint.get("/contracts/<address>")
def get_contract(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    contract, lookup = contracts.get_with_proxy(reader(), key, STORED)
    if contract.code_hash is None:
        raise NotFound("No contract is indexed at this address.")
    if not contract.has_source:
        raise NotFound(contract.not_verified)
    values = None
    if contract.constructor_arguments is not None:
        abi = orjson.loads(contract.abi or "[]")
        values = constructor_values(abi, bytes(contract.constructor_arguments))
    record = {
        "address": to_hex(key),
        "match": contract.match,
        "creationMatch": False if contract.differs_in_creation else contract.creation_match,
        "contractName": contract.name,
        "filePath": contract.path,
        "compilerVersion": contract.compiler_version,
        "settings": json_fragment(contract.settings),
        "abi": json_fragment(contract.abi),
        "sources": json_fragment(contract.sources),
        "license": contract.license,
        "constructorArguments": hex_or_none(contract.constructor_arguments),
        "codeHash": hex_or_none(contract.code_hash),
        "unproven": ["codeHash", "proxy"],
        "verifiedAt": contract.verified_at,
        "verifiedBy": hex_or_none(contract.verifier),
        "proxy": lookup.proxy and lookup.proxy.record(),
        "constructor": None if values is None else [value.record() for value in values],
        "creation": contracts.creation_record(contracts.indexed(reader(), key)),
    }
    return json_value(record)


def hex_or_none(content: bytes | None) -> str | None:
    return None if content is None else to_hex(bytes(content))


@blueprint.post("/contracts/<address>/call")
@requires(Prerequisite.NODE)
def call_contract(address: str) -> Response:
    sent = query_arguments("block")
    contract = parameters.address(address)
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("functionName", "args"), "field")
    function, arguments = function_and_arguments(body)
    result = contracts.call(reader(), contract, function, arguments, block_argument(sent))
    value: dict[str, object] = {"result": result.value, "unproven": ["result"]}
    if result.proxy is not None:
        value |= {
            "implementation": to_hex(result.proxy.implementation),
            "evidence": result.evidence,
            "unproven": ["result", "implementation"],
        }
    return json_value(value)


@blueprint.get("/compilers")
def list_compilers() -> Response:
    query_arguments()
    reader().do_not_cache()
    compilers = services.services().verifier.compilers
    return json_value(
        {
            language.name.lower(): [
                {"version": dotted(version), "installed": is_installed}
                for version, is_installed in compilers.of(language.kind).releases().items()
            ]
            for language in (solidity.SOLIDITY, vyper.VYPER)  # solc compiles Yul, too
        }
    )


def function_and_arguments(body: dict[str, object]) -> tuple[str, list[object]]:
    """Return functionName and args of a body; raises InvalidParameter."""
    function = parameters.text(parameters.required(body, "functionName"), "functionName", most=500)
    arguments = body.get("args", [])
    if not isinstance(arguments, list) or len(arguments) > MAX_ARGUMENTS:
        raise InvalidParameter("args must be an array.", field="args")
    return function, arguments
