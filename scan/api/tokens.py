"""GET /api/v1/tokens, /tokens/:address and /tokens/:address/holders."""

from flask import Blueprint, Response

from scan import parameters
from scan.http.lists import PAGED, list_body, window_of
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.queries import tokens

blueprint = Blueprint("tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    window = window_of(query_arguments(*PAGED))
    return list_body("tokens", tokens.page(reader(), window))


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    query_arguments()
    return json_body(tokens.get(reader(), parameters.address(address)))


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    window = window_of(query_arguments(*PAGED))
    holders = tokens.holders(reader(), parameters.address(address), window)
    return list_body("holders", holders)
