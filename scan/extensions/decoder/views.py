"""/api/v1/decode and /encode: what a request has, checked: its data, topics, address and kind; and
the calldata of a function, by its typed signature or by the verified ABI of an address. The page
/decode, whose link can be shared, and /encode with a form of a function's arguments.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Blueprint, Response, request

from scan import json_bodies, parameters
from scan.api.contracts import function_and_arguments
from scan.api.hooks import Api
from scan.contracts import abi_json, read_calls
from scan.contracts.abi import AbiError, parse_signature
from scan.errors import InvalidParameter, ScanError
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.contract_details import contract_functions, contract_values
from scan.extensions.decoder.decoded_data import (
    KINDS,
    MAX_BYTES,
    Decoding,
    Encoded,
    decode,
    recorded,
)
from scan.extensions.decoder.typed_data import FIELD
from scan.hex import to_hex
from scan.http import json_responses, request_bodies
from scan.http.current_request import query_arguments, reader
from scan.http.request_bodies import form
from scan.pages import hooks, records
from scan.pages.site import page, site
from scan.queries import contracts
from scan.queries.reader import Reader

NAMES = ("data", "topics", "address", "kind", FIELD)

_DATA = re.compile(r"0[xX](?:[0-9a-fA-F]{2})*", re.ASCII)
_QUOTES_AND_SPACE = re.compile(r"[\s\"'`]+")


def encoded_of(values: Mapping[str, object]) -> Encoded:
    """Return what a request's values are, of which `topics` are a list; raises
    InvalidParameter."""
    if FIELD in values:
        others = [name for name in NAMES if name in values and name != FIELD]
        if others:
            message = f"{others[0]} is not for {FIELD}, which has all."
            raise InvalidParameter(message, field=others[0])
        if not isinstance(values[FIELD], dict):
            raise InvalidParameter(f"{FIELD} must be an object.", field=FIELD)
        return Encoded(b"", typed_data=values[FIELD])
    topics = values.get("topics", [])
    if not isinstance(topics, list) or len(topics) > MAX_TOPICS:
        raise InvalidParameter(f"topics must be at most {MAX_TOPICS} topics.", field="topics")
    kind = parameters.one_of(values["kind"], "kind", KINDS) if "kind" in values else None
    return Encoded(
        _data(values.get("data", "0x") if topics else parameters.required(values, "data")),
        [parameters.hash32(topic, "topics") for topic in topics],
        parameters.optional_address(values, "address"),
        kind,
    )


def encoded_of_query(arguments: Mapping[str, str]) -> Encoded:
    """Return what a query string has, in which topics have commas between them."""
    values: dict[str, object] = {**arguments}
    if "topics" in arguments:
        values["topics"] = arguments["topics"].split(",") if arguments["topics"] else []
    if FIELD in arguments:
        values[FIELD] = json_bodies.json_object(arguments[FIELD].encode("utf-8", "replace"))
    return encoded_of(values)


def typed(values: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a form as parameters, without those that are empty: what is pasted may
    have quotes, lines and no 0x, and data that begins as an object is typed data."""
    texts = {name: values.get(name, "")[: 4 * MAX_BYTES] for name in NAMES}
    message = (texts[FIELD] or texts["data"]).strip()
    if message.startswith("{"):
        return {FIELD: message}
    data = _QUOTES_AND_SPACE.sub("", texts["data"])
    topics = re.findall(r"[^\s,;\"'`\[\]]+", texts["topics"])
    fields = {
        "data": f"0x{data}" if data and data[:2] not in ("0x", "0X") else data,
        "topics": ",".join(topics[: MAX_TOPICS + 1]),
        "kind": texts["kind"],
        "address": _QUOTES_AND_SPACE.sub("", texts["address"]),
    }
    return {name: text for name, text in fields.items() if text}


def _data(value: object) -> bytes:
    if isinstance(value, str) and len(value) > 2 * MAX_BYTES + 2:
        raise InvalidParameter(f"data must be at most {MAX_BYTES:,} bytes.", field="data")
    if not isinstance(value, str) or not _DATA.fullmatch(value):
        message = "data must be 0x followed by an even number of hex digits."
        raise InvalidParameter(message, field="data")
    return bytes.fromhex(value[2:])


FUNCTION_FIELD = "functionName"


def entry_of(signature: str) -> dict[str, Any]:
    """Return a typed signature as an ABI's entry; raises InvalidParameter."""
    try:
        return {"type": "function", **parse_signature(signature)}
    except AbiError as error:
        message = f"The function is not a signature: {error}."
        raise InvalidParameter(message, field=FUNCTION_FIELD) from None


def encode(
    reader: Reader, function: str, arguments: Sequence[object], address: bytes | None = None
) -> read_calls.PreparedCall:
    """Encode a call of `function`: a signature, or of an address also the name of a function.

    Raises InvalidParameter, NotFound for an address without a verified source, Unavailable.
    """
    if address is not None:
        return contract_functions.encode(reader, address, function, arguments).prepared
    entry = entry_of(function)
    try:
        return read_calls.prepare([entry], entry["name"], arguments, read_only=False)
    except abi_json.NoSuchFunction as error:
        raise InvalidParameter(f"{error}.", field=FUNCTION_FIELD) from None
    except AbiError as error:
        raise InvalidParameter(f"{str(error)[:2000]}.", field="args") from None


api_views = Blueprint("decoder", __name__)


@api_views.get("/decode")
def decode_query() -> json_responses.Response:
    return _decoded(encoded_of_query(query_arguments(*NAMES)))


@api_views.post("/decode")
def decode_body() -> json_responses.Response:
    query_arguments()
    body = request_bodies.json_object()
    json_bodies.only_known(body, NAMES, "field")
    return _decoded(encoded_of(body))


def _decoded(encoded: Encoded) -> json_responses.Response:
    address, decoding = encoded.address, decode(reader(), encoded)
    encoded_record = {
        "data": to_hex(decoding.signed or encoded.data),
        "topics": [*map(to_hex, encoded.topics)],
        "address": None if address is None else to_hex(address),
    }
    # The code at an address, and a proxy's implementation, choose the ABI.
    unproven = [] if address is None else ["candidates", "calls"]
    return json_responses.json_value({**encoded_record, **decoding.record(), "unproven": unproven})


@api_views.post("/encode")
def encode_any_call() -> json_responses.Response:
    query_arguments()
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("functionName", "args", "address"), "field")
    reader().do_not_cache()
    function, arguments = function_and_arguments(body)
    address = parameters.optional_address(body, "address")
    encoded = recorded("encoded_call", encode(reader(), function, arguments, address))
    return json_responses.json_value(
        {"to": None if address is None else to_hex(address), **encoded}
    )


LONGEST_LINK = 6000  # characters; the server reads 8 kB of a request's first line
MAX_ARGUMENTS = 100

page_views = Blueprint("pages_decoder", __name__)


@page_views.get("/decode")
def show_decoding() -> Response:
    return _decoding_page(typed(request.args))


@page_views.post("/decode")
def decode_form() -> Response:
    """Redirect to the link of what was sent; decode here what is too long for one."""
    reader().do_not_cache()
    fields = typed(form())
    link = f"/decode?{urlencode(fields)}"
    if len(link) > LONGEST_LINK:
        return _decoding_page(fields)
    return Response(status=303, headers={"Location": link})


def _decoding_page(fields: Mapping[str, str]) -> Response:
    decoding, encoded, error, status = None, None, None, 200
    try:
        if fields:
            encoded = encoded_of_query(fields)
            decoding = decode(reader(), encoded)
    except ScanError as refused:
        error, status = refused.message, refused.status
    names = records.names_of([], *_addresses(encoded, decoding)) if encoded and decoding else {}
    return page(
        "decode.html",
        status,
        fields=fields,
        kinds=KINDS,
        decoding=decoding,
        error=error,
        names=names,
        contract=fields.get("address", "").lower(),
        link=len(urlencode(fields)) < LONGEST_LINK,
    )


def _addresses(encoded: Encoded, decoding: Decoding) -> Iterator[str]:
    if encoded.address is not None:
        yield to_hex(encoded.address)
    for call in decoding.calls:
        if call.call.to is not None:
            yield to_hex(call.call.to)
    for candidates in (decoding.candidates, *(call.candidates for call in decoding.calls)):
        for candidate in candidates:
            yield from records.addresses_in(candidate.decoded)


@page_views.get("/encode")
def show_encoding() -> Response:
    """Return the form of a function, or the functions of an address to choose from, and once there
    are arguments, the calldata."""
    text, address = (request.args.get(name, "").strip() for name in ("function", "address"))
    arguments = request.args.getlist("argument")[:MAX_ARGUMENTS]
    values: dict[str, Any] = {"functions": (), "function": None, "encoded": None, "error": None}
    units, status = contract_functions.amount_units(site().chain().symbol, []), 200
    try:
        values["functions"] = _functions_at(records.address_of(address)) if address else ()
        if text:
            values["function"] = function = _function(text, values["functions"])
            if "argument" in request.args or not function.inputs:
                values["encoded"] = _encoded(function, arguments, units)
    except ScanError as refused:
        inputs = values["function"].inputs if values["function"] else ()
        values["error"] = contract_functions.labelled_message(refused.message, inputs)
        status = refused.status
    more = {"text": text, "address": address, "arguments": arguments, "units": units}
    return page("encode.html", status, names={}, **more, **values)


def _encoded(
    function: contract_functions.Function,
    arguments: Sequence[str],
    units: contract_functions.AmountUnits,
) -> read_calls.PreparedCall:
    if len(arguments) != len(function.inputs):
        raise InvalidParameter(f"The function takes {len(function.inputs)} arguments.")
    converted = [
        contract_functions.argument_of(
            contract_functions.in_base_units_of_text(text, input_.shape, units.all)
        )
        for text, input_ in zip(arguments, function.inputs, strict=True)
    ]
    return encode(reader(), function.signature, converted)


def _function(
    text: str, functions: Sequence[contract_functions.Function]
) -> contract_functions.Function:
    """Return the function of a name or signature: of an address, or as it is typed."""
    parameters.text(text, "function", most=contract_functions.LONGEST_SIGNATURE)
    matching = [function for function in functions if text in (function.signature, function.name)]
    if matching:
        return matching[0]
    if functions and "(" not in text:
        raise InvalidParameter("The contract has no function of this name.", field="function")
    typed_function = [*contract_functions.functions_of([[entry_of(text)], []], read_only=False).own]
    if not typed_function:
        raise InvalidParameter("A type of the function is not supported.", field="function")
    return typed_function[0]


def _functions_at(address: bytes) -> list[contract_functions.Function]:
    """Return the functions of a verified contract and of its implementation."""
    reader().do_not_cache()
    contract, lookup = contracts.get_with_proxy(reader(), address, {"interface"})
    lent = contract_values.implementation_abis(reader(), lookup.proxy)
    abis = [orjson.loads(contract.interface or "[]"), [entry for abi in lent for entry in abi]]
    tabs = [
        contract_functions.functions_of(abis, read_only=read_only) for read_only in (False, True)
    ]
    functions = [function for tab in tabs for function in (*tab.own, *tab.proxied)]
    if not functions:
        message = "The contract at this address is not verified: type the function's signature."
        raise InvalidParameter(message, field="address")
    return functions


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(
        blueprints=(page_views,),
        menu=(("Contracts", "/decode", "Decode data"), ("Contracts", "/encode", "Encode a call")),
    ),
)
