"""GET /api/v1/transactions, /transactions/:hash and /transactions/:hash/internal."""

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http import chain_lists as lists
from scan.http.chain_lists import Page, PageRequest, page_body, without_traces
from scan.http.chain_reads import do_not_cache, read_chain
from scan.http.requests import query_arguments
from scan.http.responses import json_body
from scan.http.transaction_details import read_details

# A response with thousands of logs would push all others out of the cache.
MOST_CACHED_BYTES = 2 * 1024 * 1024

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
    """What is stored of it, and then what the node has of it, decoded."""
    query_arguments()
    key = parameters.hash32(transaction_hash)
    (body,) = read_chain("api/transactions_get", hash=key)
    if body is None:
        raise NotFound("No such transaction is indexed.")
    details = read_details(orjson.loads(body))
    whole = body.encode()[:-1] + b"," + orjson.dumps(details.record())[1:]
    if len(whole) > MOST_CACHED_BYTES:
        do_not_cache()
    return json_body(whole)


@blueprint.get("/transactions/<transaction_hash>/internal")
def list_internal_transfers(transaction_hash: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    *found, is_traced = read_chain(
        "api/internal_transfers_list_by_transaction",
        hash=parameters.hash32(transaction_hash),
        limit=limit,
        offset=offset,
    )
    if is_traced is None:
        raise NotFound("No such transaction is indexed.")
    if not is_traced:
        raise NotFound(f"The traces of this transaction's block were not read. {without_traces()}")
    return json_body(page_body("internalTransfers", Page(*found)))
