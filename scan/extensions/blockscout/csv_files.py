"""Lists as CSV files in Blockscout's columns: the newest rows of a time, the largest holders."""

from collections.abc import Iterable, Sequence

import orjson
from flask import current_app

from scan import parameters
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.units import in_units
from scan.extensions.blockscout import paths, transaction_lists
from scan.extensions.blockscout.address_and_token_objects import transfer_total
from scan.extensions.blockscout.addresses_and_tokens import token_of
from scan.extensions.blockscout.decoded_objects import NO_TOPICS
from scan.extensions.decoding.decoding import add_methods
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import having_all
from scan.hex import data, to_hex
from scan.http import csv_text
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries import tokens, transactions
from scan.queries.entities import PAGES
from scan.queries.list_pages import Window

MOST_ROWS = 1000
PERIOD = {"from_period": "T00:00:00Z", "to_period": "T23:59:59Z"}  # of a day alone
TOPICS = tuple(f"topic{index}" for index in range(MAX_TOPICS))


blueprint = paths.Routes("csv_files")


@blueprint.path("/config/csv-export")
def get_limits() -> Response:
    return json_value({"limit": MOST_ROWS, "async_enabled": False})


@blueprint.path("/addresses/<address_hash>/transactions/csv")
def export_transactions(address_hash: str) -> Response:
    records = _of_address("transactions", address_hash)
    add_methods(reader(), records)
    rows = (
        {
            "method": None,
            **record,
            "direction": _direction(record, address_hash),
            "status": transactions.outcome(record),
        }
        for record in records
    )
    return _file("transactions_csv", rows)


@blueprint.path("/addresses/<address_hash>/token-transfers/csv")
def export_token_transfers(address_hash: str) -> Response:
    return _transfers(_of_address("token_transfers", address_hash), address_hash)


@blueprint.path("/tokens/<address_hash>/transfers/csv")
def export_transfers_of_token(address_hash: str) -> Response:
    token = data(token_of(address_hash)["address"])
    return _transfers(_rows("token_transfers", token=token), address_hash)


def _transfers(records: Sequence[paths.Record], address_hash: str) -> Response:
    context_of = paths.contexts_of(records)
    rows = (
        {
            **record,
            "direction": _direction(record, address_hash),
            "decimals": transfer_total(record).get("decimals"),
            "symbol": csv_text.text(record["tokenSymbol"] or ""),
            "moved": None if record["tokenType"] == "BEP721" else record["value"],
            "fee": context_of[record["transactionHash"]]["fee"],
            "status": True,
        }
        for record in records
    )
    return _file("transfers_csv", rows)


@blueprint.path("/addresses/<address_hash>/internal-transactions/csv")
def export_internal_transactions(address_hash: str) -> Response:
    records = _of_address("internal_transfers", address_hash)
    context_of = paths.contexts_of(records)
    rows = (
        {
            **record,
            **dict(
                zip(("recipient", "created"), transaction_lists.parties_of(record), strict=True)
            ),
            "transactionIndex": context_of[record["transactionHash"]]["transactionIndex"],
            "type": transaction_lists.shown_type(record),
            "callType": "call" if transaction_lists.shown_type(record) == "call" else None,
        }
        for record in records
    )
    return _file("internal_csv", rows)


@blueprint.path("/addresses/<address_hash>/logs/csv")
def export_logs(address_hash: str) -> Response:
    paths.one_of("filter_type", ("topic",))
    topic = paths.parsed("filter_value", parameters.hash32)
    emitted = having_all(paths.path_address(address_hash), [topic, None, None, None])
    records = logs.records(reader(), _window(), emitted).records
    context_of = paths.contexts_of(records)
    rows = (
        {
            **record,
            **dict(zip(TOPICS, (*record["topics"], *NO_TOPICS), strict=False)),
            "blockHash": context_of[record["transactionHash"]]["blockHash"],
        }
        for record in records
    )
    return _file("logs_csv", rows)


@blueprint.path("/tokens/<address_hash>/holders/csv")
def export_holders(address_hash: str) -> Response:
    token = token_of(address_hash)
    page = tokens.holders(reader(), data(token["address"]), Window(MOST_ROWS, 0))
    rows = (
        {**r, "balance": in_units(int(r["balance"]), token["decimals"] or 0)}
        for r in orjson.loads(page.data)
    )
    return _file("holders_csv", rows)


def _of_address(entity: str, address_hash: str) -> list[paths.Record]:
    """Return the newest rows of an address, or of one side of them."""
    paths.one_of("filter_type", ("address",))
    side, key = paths.one_of("filter_value", ("to", "from")), paths.path_address(address_hash)
    if (side, entity) == ("to", "transactions"):
        return _rows(entity, **transaction_lists.received(key))
    return _rows(entity, **{side or "address": key})


def _rows(entity: str, **filters: bytes) -> list[paths.Record]:
    records: list[paths.Record] = orjson.loads(
        PAGES[entity](reader(), entity, filters, _window()).data
    )
    return records


def _window() -> Window:
    first, last = (paths.parsed(name, _time) for name in PERIOD)
    return Window(MOST_ROWS, 0, time_from=first, time_to=last)


def _time(text: str, name: str) -> int:
    whole = f"{text}{PERIOD[name]}" if len(text) == len("2026-01-31") else text
    return parameters.time_s(whole, name, is_upper=name == "to_period")


def _direction(record: paths.Record, address_hash: str) -> str:
    sides = {record["toAddress"]: "IN", record["fromAddress"]: "OUT"}
    return sides.get(to_hex(paths.path_address(address_hash)), "")


def _file(name: str, rows: Iterable[paths.Record]) -> Response:
    """Return a file of rows, whose columns are the fields of an object in objects.toml."""
    cells = (tuple(paths.renamed(name, row).values()) for row in rows)
    file = csv_text.lines([paths.renamed.names(name), *cells])
    return current_app.response_class(file, mimetype="text/csv")
