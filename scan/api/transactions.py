"""GET /api/v1/transactions and /transactions/:hash."""

from flask import Blueprint, Response

from scan import params
from scan.api import chain_body, lists, page, query_arguments, services
from scan.api.lists import Window
from scan.errors import NotFound

blueprint = Blueprint("transactions", __name__)


@blueprint.get("/transactions")
def list_transactions() -> Response:
    arguments = query_arguments()
    window = Window(*params.page(arguments))
    address = params.optional_address(arguments, "address")
    found = lists.transactions(services().reads, window, address=address)
    return chain_body(page("transactions", found))


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    body = services().reads.prepared_value("transactions_get", hash=params.hash32(transaction_hash))
    if body is None:
        raise NotFound("No such transaction is indexed.")
    return chain_body(body)
