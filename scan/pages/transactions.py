"""/txs and /tx/:hash, with its token transfers, trades, input and logs."""

import json

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import NotFound
from scan.http import chain_lists
from scan.http.chain_reads import read_chain
from scan.pages.method_names import add_methods
from scan.pages.records import Record, listing, names_of, page_request, record
from scan.pages.site import page
from scan.pages.transaction_details import shown_details

MAX_INTERNAL = 200

blueprint = Blueprint("pages_transactions", __name__)


@blueprint.get("/txs")
def list_transactions() -> Response:
    transactions = listing(chain_lists.transactions(page_request()))
    add_methods(transactions.records)
    return page(
        "transactions.html", transactions=transactions, names=names_of(transactions.records)
    )


@blueprint.get("/tx/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    key = parameters.hash32(transaction_hash)
    found = record("api/transactions_get", hash=key)
    if found is None:
        raise NotFound(
            "This transaction is not indexed: it may be pending, never sent, or of another chain."
        )
    row = read_chain("pages/transactions_get_events", hash=key)
    transfers, trades = (list[Record](json.loads(text)) for text in (row[0], row[2]))
    internal, _, internal_count, is_traced = read_chain(
        "api/internal_transfers_list_by_transaction", hash=key, limit=MAX_INTERNAL, offset=0
    )
    internal = list[Record](json.loads(internal or "[]"))
    asked_internal = not is_traced and request.args.get("tab") == "internal"
    details = shown_details(found, with_internal=asked_internal)
    return page(
        "transaction.html",
        transaction=found,
        fee=int(found["gasPrice"]) * int(found["gasUsed"]),
        transfers=transfers,
        transfer_count=row[1],
        trades=trades,
        trade_count=row[3],
        details=details,
        internal=internal,
        internal_count=internal_count,
        is_traced=is_traced,
        asked_internal=asked_internal,
        names=names_of([found, *transfers, *trades, *internal], *details.addresses()),
    )
