"""GET /api/v1/tokens, /tokens/:address and /tokens/:address/holders."""

from flask import Blueprint, Response

from scan import params
from scan.api import chain_body, lists, page, query_arguments, services
from scan.api.lists import Records, Window
from scan.errors import NotFound

blueprint = Blueprint("tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    window = Window(*params.page(query_arguments()))
    return chain_body(page("tokens", lists.tokens(services().reads, window)))


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    body = services().reads.prepared_value("tokens_get", address=params.address(address))
    if body is None:
        raise NotFound("No token is known at this address.")
    return chain_body(body)


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    limit, offset = params.page(query_arguments())
    row = services().reads.prepared_row(
        "tokens_holders", address=params.address(address), limit=limit, offset=offset
    )
    if row is None:
        raise NotFound("No token is known at this address.")
    return chain_body(page("holders", Records(*row)))
