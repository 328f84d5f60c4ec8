"""GET /api/v1/transactions and /transactions/:hash."""

from flask import Blueprint, Response

from scan import parameters
from scan.api import lists
from scan.api.lists import Window, page
from scan.errors import NotFound
from scan.http.requests import query_arguments
from scan.http.responses import chain_body
from scan.http.services import services

blueprint = Blueprint("transactions", __name__)


@blueprint.get("/transactions")
def list_transactions() -> Response:
    arguments = query_arguments()
    window = Window(*parameters.page(arguments))
    address = parameters.optional_address(arguments, "address")
    found = lists.transactions(services().reads, window, address=address)
    return chain_body(page("transactions", found))


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    body = services().reads.prepared_value(
        "api/transactions_get", hash=parameters.hash32(transaction_hash)
    )
    if body is None:
        raise NotFound("No such transaction is indexed.")
    return chain_body(body)
