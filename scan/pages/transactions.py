"""/txs and /tx/:hash, with its token transfers, trades, input, logs and traces."""

import json
from collections.abc import Iterator, Sequence
from typing import cast

from flask import Blueprint, Response

from scan import registry
from scan.contracts.abi_decoding import Decoded
from scan.contracts.transaction_details import DecodedLog, LogWindow
from scan.errors import NotFound
from scan.hex import to_hex
from scan.http.prerequisites import requires
from scan.http.requests import reader
from scan.pages import transaction_tabs
from scan.pages.argument_values import addresses_in
from scan.pages.filtered_lists import entity_list
from scan.pages.prices import unit_prices
from scan.pages.records import Record, complete_transactions, hash_of, names_of
from scan.pages.site import page
from scan.pages.transaction_tabs import Shown
from scan.queries import blocks, internal_transfers, transactions
from scan.queries.pages import Window

MAX_INTERNAL = 200
MAX_LOGS = 100
ADDRESS_CHARACTERS = 42  # in hex; other fields of chains are longer

blueprint = Blueprint("pages_transactions", __name__)


@blueprint.get("/txs")
def list_transactions() -> Response:
    shown = entity_list("transactions", "/txs", "/transactions")
    complete_transactions(shown.records)
    return shown.response("transactions.html", shown=shown, names=names_of(shown.records))


@blueprint.get("/internal-transfers")
def list_internal_transfers() -> Response:
    shown = entity_list("internal_transfers", "/internal-transfers", "/internal-transfers")
    return shown.response("internal_transfers.html", shown=shown, names=names_of(shown.records))


@blueprint.get("/tx/<transaction_hash>")
@requires(transaction_tabs.prerequisite)
def get_transaction(transaction_hash: str) -> Response:
    key = hash_of(transaction_hash)
    body = transactions.get(reader(), key)
    if body is None:
        for page_of_missing in registry.values("pages", "page_of_missing"):
            if (response := page_of_missing(key)) is not None:
                return cast(Response, response)
        if blocks.get(reader(), key) is not None:
            raise NotFound("This is the hash of a block, not of a transaction. Search for it.")
        raise reader().not_indexed(
            "Neither a transaction nor a block with this hash is indexed. If it is a transaction's,"
            " it may be pending, not sent, or on another chain."
        )
    record: Record = json.loads(body)
    events = transactions.events(reader(), key)
    transfers, trades = json.loads(events.transfers), json.loads(events.trades)
    moved, is_traced = internal_transfers.of_transaction(
        reader(), key, Window(MAX_INTERNAL, 0, "asc")
    )
    internal = list[Record](json.loads(moved.data or "[]"))
    of_extensions = [
        shown
        for records in registry.values("pages", "transaction_records")
        for shown in records(record)
    ]
    details = transactions.details(reader(), record, LogWindow(most=MAX_LOGS))
    logs = None if details.logs is None else details.decoded_logs
    heads: list[Shown] = [
        head(record, details) for head in registry.values("pages", "transaction_head")
    ]
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
        details=details,
        logs=logs,
        internal=internal,
        internal_count=moved.total,
        is_traced=is_traced,
        tab=tab,
        tab_titles=transaction_tabs.titles(details.log_count),
        is_open=transaction_tabs.is_open(tab),
        adjacent=json.loads(transactions.adjacent(reader(), key) or "null"),
        prices=unit_prices(),
        names=names_of(
            [
                *(record, *of_extensions, *transfers, *trades, *internal),
            ],
            *_addresses(details.method, logs),
            *(v for v in record.get("chainFields", {}).values() if _is_address(v)),
            *(address for part in (*heads, shown) for address in part.addresses),
        ),
    )


def _is_address(value: object) -> bool:
    return isinstance(value, str) and value.startswith("0x") and len(value) == ADDRESS_CHARACTERS


def _addresses(method: Decoded | None, logs: Sequence[DecodedLog] | None) -> Iterator[str]:
    """Yield the addresses in calls and logs that the page shows by their names."""
    for log, event in logs or ():
        yield to_hex(log.address)
        yield from addresses_in(event)
    yield from addresses_in(method)
