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
    inferred_functions,
    source_files,
)
from scan.extensions.contract_details.contract_functions import recorded
from scan.hex import to_hex
from scan.http import request_bodies
from scan.http.current_request import query_arguments, reader
from scan.http.hooks import Service
from scan.http.json_responses import Response, json_body, json_value
from scan.http.list_responses import LISTED, list_response
from scan.http.prerequisites import Prerequisite, requires
from scan.verification.bytecode_metadata import compiler_version, hash_kind

STANDARD_JSON = "standard-json"
SOURCE_FORMATS = (STANDARD_JSON, "zip")
ZIP_TYPE = "application/zip"

blueprint = Blueprint("contract_details", __name__)


@blueprint.get("/contracts/<address>/claims")
def get_claims(address: str) -> Response:
    query_arguments()
    claims = contract_page.stored_claims(reader(), parameters.address(address))
    return json_value({"claims": claims})


@blueprint.get("/contracts/<address>/bytecode")
def get_bytecode(address: str) -> Response:
    arguments = query_arguments("disassembly")
    is_disassembled = parameters.flag(arguments.get("disassembly", "false"), "disassembly")
    key = parameters.address(address)
    held = bytecode.get(reader(), key)
    record: dict[str, object] = {"address": to_hex(key), **recorded("bytecode", held)}
    record |= {"size": len(held.code), "metadata": _metadata(held)}
    record["unproven"] = ["codeHash", "bytecode"]
    if is_disassembled:
        reader().do_not_cache()  # it is a hundred times as large as the code
        record["disassembly"] = [
            {
                "offset": instruction.offset,
                "opcode": instruction.name,
                "data": to_hex(instruction.data) if instruction.data else None,
            }
            for instruction in bytecode.disassemble(held.code[: held.instructions_end])
        ]
    return json_value(record)


@blueprint.get("/contracts/<address>/inferred-functions")
def list_inferred_functions(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    held = bytecode.get(reader(), key)
    functions = inferred_functions.get(reader(), held.code, held.code_hash)
    records = [recorded("inferred_function", function) for function in functions]
    return json_value(
        {
            "address": to_hex(key),
            "verified": held.is_verified,
            "functions": records,
            "unproven": ["functions"],
        }
    )


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
@requires(Prerequisite.NODE)
def get_values(address: str) -> Response:
    query_arguments()
    values = contract_values.get(reader(), parameters.address(address))
    value_records = [
        recorded("value", value) | {"outputs": [output._asdict() for output in value.outputs]}
        for value in values.values
    ]
    record = {"address": address.lower(), **recorded("values", values), "values": value_records}
    record["unproven"] = ["implementation", "values"]
    return json_value(record)


@blueprint.post("/contracts/<address>/encode")
def encode_call(address: str) -> Response:
    """Return a transaction for the client's own wallet to sign; nothing is sent from here."""
    query_arguments()
    key = parameters.address(address)
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("functionName", "args", "value", "from"), "field")
    function, arguments = contracts.function_and_arguments(body)
    sender = parameters.optional_address(body, "from")
    encoded = contract_functions.encode(
        reader(), key, function, arguments, body.get("value", 0), sender
    )
    chain_id = reader().sources.chain_id.read()
    value: dict[str, object] = {"to": to_hex(key), **recorded("call_to_sign", encoded)}
    value["chainId"] = None if chain_id is None else int(chain_id)
    value["unproven"] = []
    if encoded.proxy is not None:
        value |= {
            "implementation": to_hex(encoded.proxy.implementation),
            "evidence": encoded.proxy.evidence_of(encoded.prepared.function.selector),
            "unproven": ["implementation"],
        }
    return json_value(value)


@blueprint.get("/contracts/<address>/source")
def get_source(address: str) -> Response:
    arguments = query_arguments("format")
    form = parameters.one_of(arguments.get("format", STANDARD_JSON), "format", SOURCE_FORMATS)
    key = parameters.address(address)
    contract = source_files.get(reader(), key)
    if form == STANDARD_JSON:
        return json_body(source_files.standard_input(contract))
    headers = {"Content-Disposition": f'attachment; filename="{to_hex(key)}.zip"'}
    return flask.Response(source_files.archive(contract), headers=headers, mimetype=ZIP_TYPE)


@blueprint.get("/contracts/<address>/same-code")
def list_same_code(address: str) -> Response:
    key = parameters.address(address)
    return list_response(
        "sameCode",
        query_arguments(*LISTED),
        lambda window: comparison.page(reader(), key, window),
        address=key,
    )


@blueprint.get("/contracts/<address>/compare/<other>")
def compare_sources(address: str, other: str) -> Response:
    query_arguments()
    key, other_key = parameters.address(address), parameters.address(other, "other")
    pairs = comparison.file_pairs(reader(), key, other_key)
    files = [recorded("file_pair", pair) | {"changes": pair.unified()} for pair in pairs]
    return json_value({"address": to_hex(key), "other": to_hex(other_key), "files": files})


HOOKS = (
    hooks.Api(blueprints=(blueprint,)),
    Service(make=lambda _: inferred_functions.FunctionInference()),
)
