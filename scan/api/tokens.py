"""GET /api/v1/tokens, /tokens/:address and /tokens/:address/holders."""

from flask import Blueprint, Response

from scan import parameters
from scan.api import lists
from scan.api.lists import Records, Window, page
from scan.errors import NotFound
from scan.http.requests import query_arguments
from scan.http.responses import chain_body
from scan.http.services import services

blueprint = Blueprint("tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    window = Window(*parameters.page(query_arguments()))
    return chain_body(page("tokens", lists.tokens(services().reads, window)))


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    body = services().reads.prepared_value("api/tokens_get", address=parameters.address(address))
    if body is None:
        raise NotFound("No token is known at this address.")
    return chain_body(body)


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    limit, offset = parameters.page(query_arguments())
    row = services().reads.prepared_row(
        "api/tokens_list_holders", address=parameters.address(address), limit=limit, offset=offset
    )
    if row is None:
        raise NotFound("No token is known at this address.")
    return chain_body(page("holders", Records(*row)))
