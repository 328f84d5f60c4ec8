"""/contracts; and the contract tab's forms: calling a function, verifying a source."""

import json
from typing import Any

from flask import Blueprint, Response, redirect, request
from gunicorn.http.errors import ParseException

from scan import parameters
from scan.errors import InvalidParameter, ScanError
from scan.hex import to_hex
from scan.http.requests import INCOMPLETE_BODY, client_address, reader
from scan.http.services import services
from scan.pages.addresses import contract_page
from scan.pages.contract_source import LONGEST_SIGNATURE, read_contract
from scan.pages.records import PAGE_SIZE, Listing, address_of, page_number
from scan.pages.site import page, site
from scan.queries import contracts
from scan.verification.request import parse
from scan.verification.verifier import verify

MAX_FORM_BYTES = 5 * 1024 * 1024
MAX_ARGUMENTS = 100
SWITCHES = {"": None, "on": True, "off": False}

blueprint = Blueprint("pages_contracts", __name__)


@blueprint.get("/contracts")
def list_contracts() -> Response:
    number = page_number()
    verified = contracts.verified_page(reader(), PAGE_SIZE, (number - 1) * PAGE_SIZE)
    return page(
        "contracts.html", contracts=Listing(json.loads(verified.data), verified.total, number)
    )


@blueprint.post("/address/<address>/call")
def call_function(address: str) -> Response:
    """A view function's result, on the contract's page."""
    key = address_of(address)
    form = _form()
    called: dict[str, Any] = {"function": form.get("function", ""), "arguments": [], "error": None}
    try:
        name = parameters.text(called["function"], "function", most=LONGEST_SIGNATURE)
        called["arguments"] = form.getlist("argument")[:MAX_ARGUMENTS]
        arguments = [_argument(text) for text in called["arguments"]]
        value = site().calls.call(key, name, arguments).value
        called["result"] = json.dumps(value, indent=2, ensure_ascii=False)
        status = 200
    except ScanError as error:
        called["error"], status = error.message, error.status
    return contract_page(key, read_contract(key), status, call=called)


def _argument(text: str) -> object:
    """Arrays and objects as JSON; everything else is read by its type as it stands."""
    stripped = text.strip()
    if stripped[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        raise InvalidParameter("An argument is not valid JSON.") from None


@blueprint.post("/address/<address>/verify")
def verify_source(address: str) -> Response:
    """To the contract's tab where the source is right; the form again where it is not."""
    key = address_of(address)
    form = _form()
    fields = {name: form[name] for name in form}
    try:
        verify(services().verifier, parse(_submission(key, fields)), client_address())
    except ScanError as error:
        return contract_page(
            key, read_contract(key), error.status, form=fields, error=error.message
        )
    response = redirect(f"/address/{to_hex(key)}?tab=contract", 303)
    return Response(response.data, 303, headers=dict(response.headers))


def _form() -> Any:
    reader().do_not_cache()
    request.max_content_length = MAX_FORM_BYTES
    request.max_form_memory_size = MAX_FORM_BYTES
    try:
        return request.form
    except (OSError, ParseException):
        raise InvalidParameter(INCOMPLETE_BODY) from None


def _submission(key: bytes, fields: dict[str, str]) -> dict[str, object]:
    """The form's fields as /api/v1/verify takes them."""
    optimizer, via_ir = (SWITCHES.get(fields.get(name, "")) for name in ("optimizer", "viaIR"))
    given: dict[str, object] = {
        "address": to_hex(key),
        "sourceCode": _source(fields.get("source", "")),
        "compilerVersion": fields.get("compilerVersion", "").strip(),
    }
    names = ("contractName", "license", "evmVersion", "constructorArguments")
    given |= {name: fields[name].strip() for name in names if fields.get(name, "").strip()}
    if optimizer is not None:
        given["optimizationUsed"] = optimizer
    if via_ir is not None:
        given["viaIR"] = via_ir
    if fields.get("runs", "").strip():
        given["runs"] = fields["runs"].strip()
    return given


def _source(typed: str) -> str:
    """What was typed; else the files: one as it is, several as a standard JSON input."""
    uploads = [file for file in request.files.getlist("files") if file.filename]
    if not uploads:
        return typed
    texts = {str(file.filename): _text(file.read()) for file in uploads}
    if len(texts) == 1:
        [text] = texts.values()
        return text
    sources = {path: {"content": text} for path, text in texts.items()}
    return json.dumps({"language": "Solidity", "sources": sources, "settings": {}})


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InvalidParameter("A file is not UTF-8 text.") from None
