"""GET /api/v1/transactions, of all or an address; /transactions/:hash and the paths below it."""

from typing import Any

import orjson
from flask import Blueprint

from scan import parameters, registry
from scan.api.hooks import Api
from scan.http.list_responses import add_list
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_body, json_value
from scan.queries import blocks, transactions

blueprint = Blueprint("transactions", __name__)
add_list(blueprint, "/transactions", "transactions")
add_list(blueprint, "/addresses/<address>/transactions", "transactions")


@blueprint.get("/transactions/<transaction_hash>")
@requires(Prerequisite.NODE_FIELDS)
def get_transaction(transaction_hash: str) -> Response:
    """Return a transaction's record, with fields of extensions."""
    indexed, _ = indexed_transaction(transaction_hash)
    tag = blocks.finality_of(reader(), indexed["blockNumber"], indexed["confirmations"])
    fields: dict[str, Any] = {**indexed, "finality": tag}
    for part in registry.parts(Api):
        own = dict(part.transaction_fields(indexed))
        fields["unproven"] += own.pop("unproven", ())
        fields |= own
    return json_value(fields)


@blueprint.get("/transactions/<transaction_hash>/adjacent")
def get_adjacent(transaction_hash: str) -> Response:
    """Return the transactions of the same sender before and after one."""
    query_arguments()
    adjacent = transactions.adjacent(reader(), parameters.hash32(transaction_hash))
    if adjacent is None:
        raise reader().not_indexed("This transaction is not indexed.")
    return json_body(adjacent.encode())


def indexed_transaction(transaction_hash: str) -> tuple[dict[str, Any], str]:
    """Return a transaction's record, also as JSON text; raises NotFound."""
    query_arguments()
    record = transactions.get(reader(), parameters.hash32(transaction_hash))
    if record is None:
        raise reader().not_indexed("This transaction is not indexed.")
    return orjson.loads(record), record
