"""GET /api/v1/tokens, /tokens/:address and /tokens/:address/holders."""

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http import chain_lists as lists
from scan.http.chain_lists import Page, PageRequest, page_body
from scan.http.chain_reads import read_chain
from scan.http.requests import query_arguments
from scan.http.responses import json_body

blueprint = Blueprint("tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    request = PageRequest(*parameters.limit_and_offset(query_arguments(*parameters.PAGED)))
    return json_body(page_body("tokens", lists.tokens(request)))


@blueprint.get("/tokens/<address>")
def get_token(address: str) -> Response:
    query_arguments()
    (body,) = read_chain("api/tokens_get", address=parameters.address(address))
    if body is None:
        raise NotFound("No token is known at this address.")
    return json_body(body)


@blueprint.get("/tokens/<address>/holders")
def list_holders(address: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    holders = Page(
        *read_chain(
            "api/tokens_list_holders",
            address=parameters.address(address),
            limit=limit,
            offset=offset,
        )
    )
    if holders.data is None:
        raise NotFound("No token is known at this address.")
    return json_body(page_body("holders", holders))
