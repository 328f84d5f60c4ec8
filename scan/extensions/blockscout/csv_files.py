"""Lists as CSV files in Blockscout's columns: the newest rows of a time, the largest holders."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from flask import current_app

from scan import parameters
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.lists import Record, contexts_of, one_of, path_address
from scan.extensions.blockscout.objects import timestamp
from scan.extensions.blockscout.routing import routes, text
from scan.extensions.blockscout.token_objects import TokenObjects
from scan.extensions.blockscout.tokens import token_of
from scan.extensions.blockscout.transaction_objects import (
    name_methods,
    parties_of,
    shown_type,
)
from scan.extensions.exports import csv_format
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import having_all
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries import tokens
from scan.queries.entities import matching_page
from scan.queries.pages import Window

MOST_ROWS = 1000
PERIOD = {"from_period": "T00:00:00Z", "to_period": "T23:59:59Z"}  # of a day alone
PLACE = ("TxHash", "BlockNumber", "UnixTimestamp", "FromAddress", "ToAddress")
PRICES = ("CurrentPrice", "TxDateOpeningPrice", "TxDateClosingPrice")
TRANSACTIONS = (
    *(*PLACE, "ContractAddress", "Type", "Value", "Fee", "Status", "ErrCode"),
    *(*PRICES, "MethodName"),
)
TRANSFERS = (
    *(*PLACE, "TokenContractAddress", "Type", "TokenDecimals", "TokenSymbol", "TokensTransferred"),
    *("TransactionFee", "Status", "ErrCode"),
)
INTERNAL = (
    *("TxHash", "Index", "BlockNumber", "TxIndex", "UnixTimestamp", "FromAddress", "ToAddress"),
    *("ContractAddress", "Type", "CallType", "Gas", "GasUsed", "Value", "Input", "Output"),
    *("ErrCode", "Fee"),
)
LOGS = (
    *("TxHash", "Index", "BlockNumber", "BlockHash", "ContractAddress", "Data"),
    *("FirstTopic", "SecondTopic", "ThirdTopic", "FourthTopic"),
)
HOLDERS = ("HolderAddress", "Balance")

blueprint = routes("csv_files")


@blueprint.path("/config/csv-export")
def get_limits() -> Response:
    return json_value({"limit": MOST_ROWS, "async_enabled": False})


@blueprint.path("/addresses/<address_hash>/transactions/csv")
def export_transactions(address_hash: str) -> Response:
    records = _of_address("transactions", address_hash)
    name_methods(records, AddressObjects(record["toAddress"] for record in records))
    rows = (
        [
            *_place(record["hash"], record),
            record["contractAddress"] and checksummed(record["contractAddress"]),
            *(_direction(record, address_hash), record["value"], record["fee"]),
            *("ok" if record["status"] else "error", None),
            *(*(None for _ in PRICES), record.get("method")),
        ]
        for record in records
    )
    return _file(TRANSACTIONS, rows)


@blueprint.path("/addresses/<address_hash>/token-transfers/csv")
def export_token_transfers(address_hash: str) -> Response:
    return _transfers(_of_address("token_transfers", address_hash), address_hash)


@blueprint.path("/tokens/<address_hash>/transfers/csv")
def export_transfers_of_token(address_hash: str) -> Response:
    token = data(token_of(address_hash)["address"])
    return _transfers(_rows("token_transfers", token=token), address_hash)


def _transfers(records: Sequence[Record], address_hash: str) -> Response:
    context_of, known = contexts_of(records), TokenObjects(r["tokenAddress"] for r in records)
    rows = (
        [
            *_place(record["transactionHash"], record),
            *(checksummed(record["tokenAddress"]), _direction(record, address_hash)),
            known.of(record["tokenAddress"])["decimals"],
            csv_format.text(known.of(record["tokenAddress"])["symbol"] or ""),
            None if record["tokenType"] == "BEP721" else record["value"],
            *(context_of[record["transactionHash"]]["fee"], "ok", None),
        ]
        for record in records
    )
    return _file(TRANSFERS, rows)


@blueprint.path("/addresses/<address_hash>/internal-transactions/csv")
def export_internal_transactions(address_hash: str) -> Response:
    records = _of_address("internal_transfers", address_hash)
    context_of = contexts_of(records)
    rows = (
        [
            *(record["transactionHash"], record["transferIndex"], record["blockNumber"]),
            context_of[record["transactionHash"]]["transactionIndex"],
            *(timestamp(record["timestamp"]), checksummed(record["fromAddress"])),
            *(side and checksummed(side) for side in parties_of(record)),
            *(shown_type(record), "call" if shown_type(record) == "call" else None),
            *(None, None, record["value"], None, None, None, None),
        ]
        for record in records
    )
    return _file(INTERNAL, rows)


@blueprint.path("/addresses/<address_hash>/logs/csv")
def export_logs(address_hash: str) -> Response:
    emitted = having_all(path_address(address_hash), [None] * 4)
    records, _, _ = logs.records(reader(), _window(), emitted)
    context_of = contexts_of(records)
    rows = (
        [
            *(record["transactionHash"], record["logIndex"], record["blockNumber"]),
            context_of[record["transactionHash"]]["blockHash"],
            *(checksummed(record["address"]), record["data"]),
            *[*record["topics"], None, None, None, None][:4],
        ]
        for record in records
    )
    return _file(LOGS, rows)


@blueprint.path("/tokens/<address_hash>/holders/csv")
def export_holders(address_hash: str) -> Response:
    token = token_of(address_hash)
    page = tokens.holders(reader(), data(token["address"]), Window(MOST_ROWS, 0))
    rows = (
        [checksummed(r["address"]), csv_format.amount(r["balance"], token["decimals"] or 0)]
        for r in orjson.loads(page.data)
    )
    return _file(HOLDERS, rows)


def _of_address(entity: str, address_hash: str) -> list[Record]:
    """Return the newest rows of an address, or of one side of them."""
    one_of("filter_type", ("address",))
    side = one_of("filter_value", ("to", "from")) or "address"
    return _rows(entity, **{side: path_address(address_hash)})


def _rows(entity: str, **filters: bytes) -> list[Record]:
    records: list[Record] = orjson.loads(matching_page(reader(), entity, _window(), filters).data)
    return records


def _window() -> Window:
    first, last = (_time(name, time) for name, time in PERIOD.items())
    return Window(MOST_ROWS, 0, time_from=first, time_to=last)


def _time(name: str, of_day: str) -> int | None:
    given = text(name)
    if given is None:
        return None
    whole = f"{given}{of_day}" if len(given) == len("2026-01-31") else given
    return parameters.time_s(whole, name, is_upper=name == "to_period")


def _place(transaction_hash: str, record: Record) -> list[Any]:
    parties = (record[side] for side in ("fromAddress", "toAddress"))
    return [
        *(transaction_hash, record["blockNumber"], timestamp(record["timestamp"])),
        *(party and checksummed(party) for party in parties),
    ]


def _direction(record: Record, address_hash: str) -> str:
    sides = {record["toAddress"]: "IN", record["fromAddress"]: "OUT"}
    return sides.get(to_hex(path_address(address_hash)), "")


def _file(columns: Sequence[str], rows: Iterable[Sequence[csv_format.Cell]]) -> Response:
    file = csv_format.lines([columns, *rows])
    return current_app.response_class(file, mimetype="text/csv")
