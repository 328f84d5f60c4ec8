"""/verified-contracts, /verify, the tabs of a contract, and their forms: calling a function,
verifying a source; the page of two sources side by side."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from flask import Blueprint, Response, redirect, request
from werkzeug.datastructures import MultiDict

from scan import parameters
from scan.errors import InvalidParameter, NotFound, ScanError
from scan.extensions.contract_details import bytecode, comparison
from scan.extensions.contract_details.contract_functions import (
    LONGEST_SIGNATURE,
    Parameter,
    argument_of,
    in_base_units_of_text,
    labelled_message,
)
from scan.extensions.contract_details.contract_page import (
    ShownContract,
    contract_page,
    proxy_head,
    read_contract,
    read_contract_view,
    read_source_file,
    token_tab,
    units_of,
)
from scan.extensions.contract_details.contract_values import Output, Value
from scan.hex import to_hex
from scan.http import request_bodies
from scan.http.current_request import client_address, note_changed_index, reader
from scan.http.prerequisites import Prerequisite, requires
from scan.http.services import services
from scan.pages import addresses_and_tokens, filtered_lists, records
from scan.pages.hooks import CONTRACT, AddressSection, AddressTab, Pages, TokenTab
from scan.pages.site import HEADERS, page
from scan.queries import contracts
from scan.verification.languages import language_of_path, vyper
from scan.verification.languages.solidity import SOLIDITY, YUL, Language
from scan.verification.match_search import BY_PATH
from scan.verification.request import MAX_FILES, parse
from scan.verification.verifier import message, verify

MAX_ARGUMENTS = 100
SOURCE_SUFFIXES = (".sol", *vyper.VYPER.suffixes, *YUL.suffixes)
VYPER_VERSION = "vyper:"  # the beginning of a version of Vyper
SWITCHES = {"": None, "on": True, "off": False}
# The form's words for the fields of /api/v1/verify.
WORDS = {
    "sourceCode": "the source",
    "compilerVersion": "the compiler version",
    "contractName": "the contract name",
    "runs": "the number of optimizer runs",
    "evmVersion": "the EVM version",
    "license": "the licence",
    "constructorArguments": "the constructor arguments",
}

blueprint = Blueprint("pages_contract_tabs", __name__)


@blueprint.get("/verified-contracts")
def list_verified_contracts() -> Response:
    verified = filtered_lists.filtered_list(
        "/verified-contracts",
        "/contracts",
        (),
        lambda window, _: contracts.verified_page(reader(), window),
        paging=filtered_lists.UNORDERED,
    )
    listed = [bytes.fromhex(record["address"][2:]) for record in verified.records]
    proxies = contracts.proxies_among(reader(), listed)
    return verified.response("verified_contracts.html", contracts=verified, proxies=proxies)


@blueprint.get("/verify")
def choose_contract() -> Response:
    """Return a page that asks for the contract to verify, or redirect to that contract's form."""
    address = request.args.get("address", "").strip()
    if not address:
        return page("verify.html")
    target = f"/address/{to_hex(records.address_of(address))}?tab=contract#verify"
    return Response(status=303, headers={"Location": target})


@blueprint.get("/address/<address>/abi")
def get_abi(address: str) -> Response:
    """Return the ABI of a verified contract, as JSON."""
    reader().do_not_cache()  # large ABIs would evict everything else
    contract, _ = contracts.get_with_proxy(reader(), records.address_of(address), {"abi"})
    if contract.abi is None:
        raise NotFound(contract.not_verified)
    return Response(contract.abi, headers={**dict(HEADERS), "Content-Type": "application/json"})


@blueprint.get("/address/<address>/source")
def get_source_file(address: str) -> Response:
    """Return one file of a verified contract, as text."""
    content = read_source_file(records.address_of(address), request.args.get("file", ""))
    return Response(content, headers={**dict(HEADERS), "Content-Type": "text/plain; charset=utf-8"})


@blueprint.post("/address/<address>/call")
@requires(Prerequisite.NODE)
def call_function(address: str) -> Response:
    """Return the contract's page with the result of a view function."""
    key = records.address_of(address)
    sent = _form()
    contract = read_contract(key, "read")
    call: dict[str, Any] = {"function": sent.get("function", ""), "arguments": [], "error": None}
    function = contract.functions.named(call["function"])
    inputs = function.inputs if function else ()
    try:
        name = parameters.text(call["function"], "function", most=LONGEST_SIGNATURE)
        call["arguments"] = sent.getlist("argument")[:MAX_ARGUMENTS]
        call["sent"] = _converted(key, contract, inputs, call["arguments"])
        values = [*map(argument_of, call["sent"])]
        value = contracts.call(reader(), key, name, values).value
        outputs = function.outputs if function else ()
        call["value"] = Value(name, [Output(o.name, o.type) for o in outputs], value)
        status = 200
    except ScanError as error:
        call["error"], status = labelled_message(error.message, inputs), error.status
    return contract_page(key, contract, status, call=call)


def _converted(
    key: bytes, contract: ShownContract, inputs: Sequence[Parameter], arguments: Sequence[str]
) -> list[str]:
    """Return the arguments of a call with amounts such as `1.5 ether` in base units."""
    if not any(" " in text or "." in text for text in arguments):
        return list(arguments)
    names = records.names_of([], to_hex(key), *contract.returned_addresses)
    units = units_of(key, contract, names).all
    return [
        in_base_units_of_text(text, parameter.shape if parameter else None, units)
        for text, parameter in zip_longest(arguments, inputs[: len(arguments)])
    ]


def _in_words(error: ScanError) -> str:
    """Return an error's message with the form's words in place of the API's names."""
    name = error.field or ""
    message = error.message.replace(name, WORDS[name], 1) if name in WORDS else error.message
    return f"{message[:1].upper()}{message[1:]}"


@blueprint.post("/address/<address>/verify")
@requires(Prerequisite.LONG_WAIT)
def verify_source(address: str) -> Response:
    """Redirect to the contract after a match that was stored, otherwise show the form again."""
    key = records.address_of(address)
    sent = _form()
    fields = {name: sent[name] for name in sent}
    try:
        submission = parse(_submission(key, fields))
        contracts.get_or_index(reader(), key, ())
        with services().waiting_threads.place_for_long(client_address()):
            verified = verify(services().verifier, submission, client_address())
        if verified.stored:
            note_changed_index()
    except ScanError as error:
        return contract_page(
            key, read_contract(key, "code"), error.status, form=fields, error=_in_words(error)
        )
    if not verified.stored:
        return contract_page(key, read_contract(key, "code"), form=fields, error=message(verified))
    response = redirect(f"/address/{to_hex(key)}?tab=contract", 303)
    return Response(response.data, 303, headers=dict(response.headers))


def _form() -> MultiDict[str, str]:
    reader().do_not_cache()
    return request_bodies.form(max_fields=MAX_FILES + 50)


def _submission(key: bytes, fields: dict[str, str]) -> dict[str, object]:
    """Return the form's fields as a body of /api/v1/verify."""
    switches = {"optimizationUsed": "optimizer", "viaIR": "viaIR"}
    body: dict[str, object] = {
        "address": to_hex(key),
        "sourceCode": _source(fields.get("source", "")),
        "compilerVersion": fields.get("compilerVersion", "").strip(),
    }
    language = _language([str(file.filename) for file in request.files.getlist("files")])
    if str(body["compilerVersion"]).startswith(VYPER_VERSION):
        language = vyper.VYPER
    if language is not SOLIDITY:
        body["language"] = language.name
    names = ("contractName", "license", "evmVersion", "constructorArguments", "runs")
    body |= {name: fields[name].strip() for name in names if fields.get(name, "").strip()}
    chosen = {name: SWITCHES.get(fields.get(field, "")) for name, field in switches.items()}
    return body | {name: is_on for name, is_on in chosen.items() if is_on is not None}


def _source(typed: str) -> str:
    """Return the uploaded files, several as a standard JSON input; without files the typed text."""
    uploads = [(str(file.filename), file) for file in request.files.getlist("files")]
    # For a folder browsers send paths, which begin with the folder's name.
    folder = all("/" in path for path, file in uploads if path)
    texts: dict[str, str] = {}
    for name, file in uploads:
        path = name.partition("/")[2] if folder else name
        if not path or (folder and not path.endswith(SOURCE_SUFFIXES)):
            continue
        if path in texts:
            raise InvalidParameter(f"Two files are named {path[:100]!r}. {BY_PATH}")
        texts[path] = _text(file.read())
    if len(texts) <= 1:
        return next(iter(texts.values()), typed)
    sources = {path: {"content": text} for path, text in texts.items()}
    return json.dumps({"language": _language(texts).name, "sources": sources})


def _language(paths: Iterable[str]) -> Language:
    """Return the language of files, Solidity's among which may be of any suffix."""
    others = (language for language in map(language_of_path, paths) if language is not SOLIDITY)
    return next(others, SOLIDITY)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InvalidParameter("A file is not UTF-8 text.") from None


def _contract_tab(key: bytes) -> Response:
    return contract_page(key, read_contract_view(key))


def _same_code(key: bytes) -> tuple[filtered_lists.FilteredList, Mapping[str, Any]]:
    address = to_hex(key)
    same_code = filtered_lists.filtered_list(
        f"/address/{address}",
        f"/contracts/{address}/same-code",
        (),
        lambda window, _: comparison.page(reader(), key, window),
        tab="same-code",
        paging=filtered_lists.UNORDERED,
        is_by_size=True,
    )
    is_whole = same_code.is_counted
    if not is_whole:  # page numbers end where the API's do
        same_code = replace(
            same_code,
            total=reader().sources.get(comparison.SameCodeBounds).counted,
            is_counted=True,
        )
    return same_code, {"is_whole": is_whole, "names": records.names_of(same_code.records, address)}


comparison_views = Blueprint("pages_source_comparison", __name__)


@comparison_views.get("/address/<address>/compare")
def choose_other(address: str) -> Response:
    """Redirect to the comparison with the address of the form; without one show the form."""
    key = records.address_of(address)
    if not request.args.get("with", "").strip():
        own = to_hex(key)
        return page("compare_with.html", address=own, names=records.names_of([], own))
    other = records.address_of(request.args["with"].strip())
    target = f"/address/{to_hex(key)}/compare/{to_hex(other)}"
    return Response(status=303, headers={"Location": target})


@comparison_views.get("/address/<address>/compare/<other>")
def compare_sources(address: str, other: str) -> Response:
    key, other_key = records.address_of(address), records.address_of(other)
    pairs = comparison.file_pairs(reader(), key, other_key)
    own, others = to_hex(key), to_hex(other_key)
    return page(
        "source_comparison.html",
        address=own,
        other=others,
        pairs=pairs,
        names=records.names_of([], own, others),
    )


_of_contract = partial(AddressTab, is_linked=addresses_and_tokens.is_of_contract, group=CONTRACT)
HOOKS = Pages(
    blueprints=(blueprint, bytecode.blueprint, comparison_views),
    sections=(AddressSection({"address": "proxy_head.html"}, proxy_head),),
    menu=(
        ("Contracts", "/verified-contracts", "Verified contracts"),
        ("Contracts", "/verify", "Verify a contract"),
    ),
    tabs=(
        _of_contract("contract", "Contract", 110, respond=_contract_tab),
        _of_contract("bytecode", "Bytecode", 130, respond=bytecode.bytecode_page),
        _of_contract(
            "same-code", "Same code", 140, template="address_same_code.html", read=_same_code
        ),
        TokenTab("contract", "Contract", 50, template="contract_body.html", read=token_tab),
    ),
)
