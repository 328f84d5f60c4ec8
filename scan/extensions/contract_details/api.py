"""Views of contracts beside their verification: files of sources, bytecode, values, calls, claims
of others."""

import flask
from flask import Blueprint

from scan import json_bodies, parameters
from scan.api import contracts, hooks
from scan.extensions.contract_details import (
    bytecode,
    comparison,
    contract_functions,
    contract_page,
    contract_values,
    source_files,
)
from scan.extensions.contract_details.contract_functions import recorded
from scan.hex import to_hex
from scan.http import current_request, json_responses, list_responses, prerequisites, request_bodies
from scan.http.json_responses import Response
from scan.http.prerequisites import Prerequisite
from scan.verification.bytecode_metadata import compiler_version, hash_kind

STANDARD_JSON = "standard-json"
SOURCE_FORMATS = (STANDARD_JSON, "zip")
ZIP_TYPE = "application/zip"

blueprint = Blueprint("contract_details", __name__)


@blueprint.get("/contracts/<address>/claims")
def get_claims(address: str) -> Response:
    current_request.query_arguments()
    claims = contract_page.stored_claims(current_request.reader(), parameters.address(address))
    return json_responses.json_value({"claims": claims})


@blueprint.get("/contracts/<address>/bytecode")
def get_bytecode(address: str) -> Response:
    arguments = current_request.query_arguments("disassembly")
    is_disassembled = parameters.flag(arguments.get("disassembly", "false"), "disassembly")
    key = parameters.address(address)
    held = bytecode.get(current_request.reader(), key)
    record: dict[str, object] = {"address": to_hex(key), **recorded("bytecode", held)}
    record |= {"size": len(held.code), "metadata": _metadata(held)}
    record["unproven"] = ["codeHash", "bytecode"]
    if is_disassembled:
        current_request.reader().do_not_cache()  # it is a hundred times as large as the code
        record["disassembly"] = [
            {
                "offset": instruction.offset,
                "opcode": instruction.name,
                "data": to_hex(instruction.data) if instruction.data else None,
            }
            for instruction in bytecode.disassemble(held.code[: held.instructions_end])
        ]
    return json_responses.json_value(record)


def _metadata(held: bytecode.Bytecode) -> dict[str, object] | None:
    """Return the CBOR map at the end of the code."""
    if held.metadata is None:
        return None
    kind = hash_kind(held.metadata)
    content = held.metadata.values.get(kind) if kind else None
    return {
        "offset": held.metadata.start,
        "compilerVersion": compiler_version(held.metadata),
        "hashType": kind,
        "hash": to_hex(content) if isinstance(content, bytes) else None,
    }


@blueprint.get("/contracts/<address>/values")
@prerequisites.requires(Prerequisite.NODE)
def get_values(address: str) -> Response:
    current_request.query_arguments()
    values = contract_values.get(current_request.reader(), parameters.address(address))
    value_records = [
        recorded("value", value) | {"outputs": [output._asdict() for output in value.outputs]}
        for value in values.values
    ]
    record = {"address": address.lower(), **recorded("values", values), "values": value_records}
    record["unproven"] = ["implementation", "values"]
    return json_responses.json_value(record)


@blueprint.post("/contracts/<address>/encode")
def encode_call(address: str) -> Response:
    """Return a transaction for the client's own wallet to sign; nothing is sent from here."""
    current_request.query_arguments()
    key = parameters.address(address)
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("functionName", "args", "value", "from"), "field")
    function, arguments = contracts.function_and_arguments(body)
    sender = parameters.optional_address(body, "from")
    encoded = contract_functions.encode(
        current_request.reader(), key, function, arguments, body.get("value", 0), sender
    )
    chain_id = current_request.reader().sources.chain_id.read()
    value: dict[str, object] = {"to": to_hex(key), **recorded("call_to_sign", encoded)}
    value["chainId"] = None if chain_id is None else int(chain_id)
    value["unproven"] = []
    if encoded.proxy is not None:
        value |= {
            "implementation": to_hex(encoded.proxy.implementation),
            "unproven": ["implementation"],
        }
    return json_responses.json_value(value)


@blueprint.get("/contracts/<address>/source")
def get_source(address: str) -> Response:
    arguments = current_request.query_arguments("format")
    form = parameters.one_of(arguments.get("format", STANDARD_JSON), "format", SOURCE_FORMATS)
    key = parameters.address(address)
    contract = source_files.get(current_request.reader(), key)
    if form == STANDARD_JSON:
        return json_responses.json_body(source_files.standard_input(contract))
    headers = {"Content-Disposition": f'attachment; filename="{to_hex(key)}.zip"'}
    return flask.Response(source_files.archive(contract), headers=headers, mimetype=ZIP_TYPE)


@blueprint.get("/contracts/<address>/same-code")
def list_same_code(address: str) -> Response:
    key = parameters.address(address)
    return list_responses.list_response(
        "sameCode",
        current_request.query_arguments(*list_responses.LISTED),
        lambda window: comparison.page(current_request.reader(), key, window),
        address=key,
    )


@blueprint.get("/contracts/<address>/compare/<other>")
def compare_sources(address: str, other: str) -> Response:
    current_request.query_arguments()
    key, other_key = parameters.address(address), parameters.address(other, "other")
    pairs = comparison.file_pairs(current_request.reader(), key, other_key)
    files = [recorded("file_pair", pair) | {"changes": pair.unified()} for pair in pairs]
    return json_responses.json_value(
        {"address": to_hex(key), "other": to_hex(other_key), "files": files}
    )


HOOKS = hooks.Api(blueprints=(blueprint,))
