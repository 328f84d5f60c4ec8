"""POST /api/v1/verify, GET /contracts/:address and POST /contracts/:address/call."""

import orjson
from flask import Blueprint, Response, request

from scan import parameters
from scan.contracts.proxy_contracts import Proxy, proxy_at
from scan.errors import InvalidParameter, NotFound
from scan.hex import to_hex
from scan.http.requests import client, client_address, json_object, query_arguments, reader
from scan.http.responses import json_body, json_value
from scan.http.services import services
from scan.verification.request import parse
from scan.verification.verifier import Verified, message, verify

MAX_VERIFY_BYTES = 5 * 1024 * 1024
MAX_ARGUMENTS = 1000

blueprint = Blueprint("contracts", __name__)


@blueprint.post("/verify")
def verify_contract() -> Response:
    request.max_content_length = MAX_VERIFY_BYTES
    submission = parse(json_object())
    with services().waiting_threads.place_for_long(client()):
        verified = verify(services().verifier, submission, client_address())
    return json_value(_verified(verified))


def _verified(verified: Verified) -> dict[str, object]:
    arguments = verified.creation.constructor_arguments
    return {
        "success": True,
        "message": message(verified),
        "address": to_hex(verified.submission.address),
        "match": verified.match,
        "creationMatch": verified.creation_match,
        "contractName": verified.contract_name,
        "filePath": verified.file_path,
        "compilerVersion": verified.compiler_version,
        "settings": verified.settings,
        "constructorArguments": None if arguments is None else to_hex(arguments),
        "warning": verified.warning,
    }


@blueprint.get("/contracts/<address>")
def get_contract(address: str) -> Response:
    query_arguments()
    wanted = parameters.address(address)
    row = services().reads.row("contracts/contracts_get_code", address=wanted)
    if row is None:
        raise NotFound("No contract is indexed at this address.")
    proxy = proxy_at(reader().node, wanted, bytes(row[1]))
    shown = None if proxy is None else orjson.dumps(_proxy(proxy)).decode()
    body = services().reads.value(
        "contracts/verified_contracts_get", address=wanted, code_hash=row[0], proxy=shown
    )
    if body is None and proxy is not None and proxy.kind == "eip1167":
        body = services().reads.value(
            "contracts/verified_contracts_get_of_clone",
            address=wanted,
            implementation=proxy.implementation,
            proxy=shown,
        )
    if body is None:
        raise NotFound("The contract at this address is not verified.")
    return json_body(body)


def _proxy(proxy: Proxy) -> dict[str, str]:
    return {"type": proxy.kind, "implementation": to_hex(proxy.implementation)}


@blueprint.post("/contracts/<address>/call")
def call_contract(address: str) -> Response:
    wanted = parameters.address(address)
    body = json_object()
    parameters.only_known(body, ("functionName", "args"), "field")
    function = parameters.text(parameters.required(body, "functionName"), "functionName", most=500)
    arguments = body.get("args", [])
    if not isinstance(arguments, list) or len(arguments) > MAX_ARGUMENTS:
        raise InvalidParameter("args must be an array.", field="args")
    called = reader().sources.read_calls.call(reader().node, wanted, function, arguments)
    value: dict[str, object] = {"result": called.value}
    if called.proxy is not None:
        value["implementation"] = to_hex(called.proxy.implementation)
    return json_value(value)
