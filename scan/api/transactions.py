"""GET /api/v1/transactions and /transactions/:hash."""

from flask import Blueprint, Response

from scan import params
from scan.api import json_body, json_page, lists, query_arguments, services
from scan.api.lists import Window
from scan.errors import NotFound

blueprint = Blueprint("transactions", __name__)


@blueprint.get("/transactions")
def list_transactions() -> Response:
    arguments = query_arguments()
    window = Window(*params.page(arguments))
    address = params.optional_address(arguments, "address")
    return json_page("transactions", lists.transactions(services().chain, window, address=address))


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    body = services().chain.value("transactions_get", hash=params.hash32(transaction_hash))
    if body is None:
        raise NotFound("No such transaction is indexed.")
    return json_body(body)
