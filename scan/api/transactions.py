"""GET /api/v1/transactions and /transactions/:hash."""

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http import chain_lists as lists
from scan.http.chain_lists import PageRequest, page_body
from scan.http.chain_reads import read_chain
from scan.http.requests import query_arguments
from scan.http.responses import json_body

blueprint = Blueprint("transactions", __name__)


@blueprint.get("/transactions")
def list_transactions() -> Response:
    arguments = query_arguments(*parameters.PAGED, "address")
    request = PageRequest(*parameters.limit_and_offset(arguments))
    address = parameters.optional_address(arguments, "address")
    page = lists.transactions(request, address=address)
    return json_body(page_body("transactions", page))


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    query_arguments()
    (body,) = read_chain("api/transactions_get", hash=parameters.hash32(transaction_hash))
    if body is None:
        raise NotFound("No such transaction is indexed.")
    return json_body(body)
