"""/decode, whose link can be shared, and /encode with a form of a function's arguments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import InvalidParameter, ScanError
from scan.extensions.contract_details import contract_values
from scan.extensions.contract_details.contract_functions import (
    LONGEST_SIGNATURE,
    AmountUnits,
    Function,
    amount_units,
    argument_of,
    functions_of,
    in_base_units_of_text,
    labelled_message,
)
from scan.extensions.contract_details.decoder.decoding import KINDS, Decoding, Encoded, decode
from scan.extensions.contract_details.decoder.parameters import (
    EncodedCall,
    encode,
    encoded_of_query,
    entry_of,
    typed,
)
from scan.hex import to_hex
from scan.http.requests import form, reader
from scan.pages import hooks, records
from scan.pages.site import page, site
from scan.queries import contracts

LONGEST_LINK = 6000  # characters; the server reads 8 kB of a request's first line
MAX_ARGUMENTS = 100

blueprint = Blueprint("pages_decoder", __name__)


@blueprint.get("/decode")
def show_decoding() -> Response:
    return _decoding_page(typed(request.args))


@blueprint.post("/decode")
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


@blueprint.get("/encode")
def show_encoding() -> Response:
    """Return the form of a function, or the functions of an address to choose from, and once there
    are arguments, the calldata."""
    text, address = (request.args.get(name, "").strip() for name in ("function", "address"))
    arguments = request.args.getlist("argument")[:MAX_ARGUMENTS]
    values: dict[str, Any] = {"functions": (), "function": None, "encoded": None, "error": None}
    units, status = amount_units(site().chain().symbol, []), 200
    try:
        values["functions"] = _functions_at(records.address_of(address)) if address else ()
        if text:
            values["function"] = function = _function(text, values["functions"])
            if "argument" in request.args or not function.inputs:
                values["encoded"] = _encoded(function, arguments, units)
    except ScanError as refused:
        inputs = values["function"].inputs if values["function"] else ()
        values["error"], status = labelled_message(refused.message, inputs), refused.status
    more = {"text": text, "address": address, "arguments": arguments, "units": units}
    return page("encode.html", status, names={}, **more, **values)


def _encoded(function: Function, arguments: Sequence[str], units: AmountUnits) -> EncodedCall:
    if len(arguments) != len(function.inputs):
        raise InvalidParameter(f"The function takes {len(function.inputs)} arguments.")
    converted = [
        argument_of(in_base_units_of_text(text, input_.shape, units.all))
        for text, input_ in zip(arguments, function.inputs, strict=True)
    ]
    return encode(reader(), function.signature, converted)


def _function(text: str, known: Sequence[Function]) -> Function:
    """Return the function of a name or signature: of an address, or as it is typed."""
    parameters.text(text, "function", most=LONGEST_SIGNATURE)
    named = [function for function in known if text in (function.signature, function.name)]
    if named:
        return named[0]
    if known and "(" not in text:
        raise InvalidParameter("The contract has no function of this name.", field="function")
    typed_function = [*functions_of([[entry_of(text)], []], read_only=False).own]
    if not typed_function:
        raise InvalidParameter("A type of the function is not supported.", field="function")
    return typed_function[0]


def _functions_at(address: bytes) -> list[Function]:
    """Return the functions of a verified contract and of its implementation."""
    reader().do_not_cache()
    contract, lookup = contracts.get_with_proxy(reader(), address, {"interface"})
    lent = contract_values.implementation_abis(reader(), lookup.proxy)
    abis = [orjson.loads(contract.interface or "[]"), [entry for abi in lent for entry in abi]]
    tabs = [functions_of(abis, read_only=read_only) for read_only in (False, True)]
    functions = [function for tab in tabs for function in (*tab.own, *tab.proxied)]
    if not functions:
        message = "The contract at this address is not verified: type the function's signature."
        raise InvalidParameter(message, field="address")
    return functions


HOOKS = hooks.Pages(
    blueprints=(blueprint,),
    menu=(("Contracts", "/decode", "Decode data"), ("Contracts", "/encode", "Encode a call")),
)
