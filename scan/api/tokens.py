"""GET /api/v1/tokens, /tokens/:address and /tokens/:address/holders and its /change."""

from flask import Blueprint

from scan import parameters
from scan.errors import NotFound
from scan.http.list_responses import LISTED, list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_body, json_value
from scan.queries import tokens

blueprint = Blueprint("tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    return list_response(
        "tokens", query_arguments(*LISTED), lambda window: tokens.page(reader(), window)
    )


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    query_arguments()
    return json_body(tokens.get(reader(), parameters.address(address)))


@blueprint.get("/tokens/<address>/holders/change")
def get_holder_change(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    if tokens.type_of(reader(), key) is None:
        raise NotFound(tokens.UNKNOWN)
    return json_value(tokens.holder_change(reader(), key))


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    key = parameters.address(address)
    return list_response(
        "holders",
        query_arguments(*LISTED),
        lambda window: tokens.holders(reader(), key, window),
        own=key,
    )
