"""/txs and /tx/:hash, with its token transfers and trades, and what extensions show of it."""

import json

from flask import Blueprint, Response

from scan import registry
from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.http.prerequisites import requires
from scan.http.requests import reader
from scan.pages import transaction_tabs
from scan.pages.filtered_lists import entity_list
from scan.pages.hooks import Pages, TransactionSection, complete_transactions, sections_of
from scan.pages.records import Record, finality_of, hash_of, names_of
from scan.pages.site import page
from scan.queries import blocks, transactions
from scan.queries.prices import unit_prices

ADDRESS_CHARACTERS = 42  # in hex; other fields of chains are longer

blueprint = Blueprint("pages_transactions", __name__)


@blueprint.get("/txs")
def list_transactions() -> Response:
    shown = entity_list("transactions", "/txs", "/transactions")
    complete_transactions(shown.records)
    return shown.response(
        "transactions.html",
        shown=shown,
        names=names_of(shown.records),
        prices=unit_prices(reader()),
    )


@blueprint.get("/tx/<transaction_hash>")
@requires(transaction_tabs.prerequisite)
def get_transaction(transaction_hash: str) -> Response:
    key = hash_of(transaction_hash)
    body = transactions.get(reader(), key)
    if body is None:
        try:
            for pages in registry.parts(Pages):
                if (response := pages.page_of_missing(key)) is not None:
                    return response
            failure = ""
        except (UpstreamFailed, Unavailable) as error:
            failure = f" Whether one is pending is not known: {error.message}"
        if blocks.get(reader(), key) is not None:
            raise NotFound("This is the hash of a block, not of a transaction. Search for it.")
        raise reader().not_indexed(
            "No transaction or block with this hash is indexed. A transaction may still be pending,"
            f" may never have been sent, or may be on another chain.{failure}"
        )
    record: Record = json.loads(body)
    events = transactions.events(reader(), key)
    transfers, trades = json.loads(events.transfers), json.loads(events.trades)
    heads = [section.read(record) for section in sections_of(TransactionSection)]
    tab = transaction_tabs.requested()
    shown = tab.read(record)
    return page(
        "transaction.html",
        **{name: value for head in heads for name, value in head.values.items()},
        **shown.values,
        transaction=record,
        transfers=transfers,
        transfer_count=events.transfer_count,
        trades=trades,
        trade_count=events.trade_count,
        tab=tab,
        tab_titles=transaction_tabs.titles(heads),
        is_open=transaction_tabs.is_open(tab),
        finality=finality_of(record["blockNumber"], record["confirmations"]),
        adjacent=json.loads(transactions.adjacent(reader(), key) or "null"),
        prices=unit_prices(reader()),
        names=names_of(
            [record, *(r for head in heads for r in head.records), *transfers, *trades],
            *(v for v in record.get("chainFields", {}).values() if _is_address(v)),
            *(address for part in (*heads, shown) for address in part.addresses),
        ),
    )


def _is_address(value: object) -> bool:
    return isinstance(value, str) and value.startswith("0x") and len(value) == ADDRESS_CHARACTERS
