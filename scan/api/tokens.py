"""GET /api/v1/tokens, /tokens/:address and /tokens/:address/holders."""

from flask import Blueprint, Response

from scan import parameters
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body, list_body
from scan.queries import tokens
from scan.queries.pages import Window

blueprint = Blueprint("tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    window = Window(*parameters.limit_and_offset(query_arguments(*parameters.PAGED)))
    return list_body("tokens", tokens.page(reader(), window))


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    query_arguments()
    return json_body(tokens.get(reader(), parameters.address(address)))


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    holders = tokens.holders(reader(), parameters.address(address), limit, offset)
    return list_body("holders", holders)
