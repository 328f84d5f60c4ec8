"""Transactions, token transfers and internal transactions in one list, by many filters at once."""

from collections.abc import Sequence

from flask import current_app

from scan.contracts.abi_decoding import standard_abis
from scan.errors import InvalidParameter
from scan.extensions.blockscout import decoded_objects, paths
from scan.extensions.blockscout.activity_pages import (
    COIN_TRANSFER,
    CREATION,
    INTERACTION,
    INTERNAL,
    NATIVE,
    TRANSFER,
    Activity,
    ActivityFilter,
    read_activities,
    read_filter,
    read_place,
)
from scan.extensions.blockscout.address_and_token_objects import (
    AddressObjects,
    TokenObjects,
    token_object,
    transfer_total,
)
from scan.extensions.decoding.decoding import add_methods
from scan.hex import data, to_hex
from scan.http import csv_text
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries import contracts, tokens

MOST_IN_FILE = 1000
# What clients show of a filter, which does not choose rows; `age` is that of age_from and age_to.
NAMES = """
    age methods_names token_contract_symbols_to_include token_contract_symbols_to_exclude
""".split()
SUCCEEDED = {"result": "success"}
COLUMNS = """
    TxHash Type MethodId UtcTimestamp FromAddress ToAddress CreatedContractAddress Value
    TokenContractAddressHash TokenDecimals TokenSymbol TokenValue TokenID BlockNumber Fee
    CurrentPrice TxDateOpeningPrice TxDateClosingPrice
""".split()

blueprint = paths.routes("advanced_filters")


@blueprint.path("/advanced-filters")
def list_activities() -> Response:
    activity_filter = _filter()
    activities, following = read_activities(activity_filter, paths.row_count())
    items = activity_objects(activities)
    return paths.list_response(items, following, search_params=_search(activity_filter))


@blueprint.path("/advanced-filters/csv")
def export_activities() -> Response:
    activities, _ = read_activities(_filter(), MOST_IN_FILE)
    items = activity_objects(activities)
    rows = [_csv_row(*pair) for pair in zip(activities, items, strict=True)]
    return current_app.response_class(csv_text.lines([COLUMNS, *rows]), mimetype="text/csv")


@blueprint.path("/advanced-filters/methods")
def list_methods() -> Response:
    """Return the functions of standards, or those that the text `q` names."""
    query = paths.text("q")
    if query is None:
        return json_value([_method(selector) for selector in standard_abis().functions])
    try:
        return json_value([_method(key, query) for key in contracts.selectors(reader(), query)])
    except InvalidParameter:
        return json_value([])


def _filter() -> ActivityFilter:
    for name in NAMES:
        paths.text(name)
    return read_filter()


def _method(selector: bytes, name: str = "") -> paths.Object:
    functions = standard_abis().functions.get(selector, ())
    method_name = functions[0].name if functions else name.partition("(")[0]
    return {"method_id": to_hex(selector), "name": method_name}


def _search(activity_filter: ActivityFilter) -> paths.Object:
    """Return the methods and tokens of a filter under their names."""
    methods = [_method(data(selector)) for selector in activity_filter.methods or ()]
    chosen = activity_filter.tokens
    token_addresses = {*(chosen.included or ()), *chosen.excluded} - {NATIVE}
    records = tokens.records_of(reader(), [data(address) for address in token_addresses])
    return {
        "methods": {m["method_id"]: m["name"] for m in methods if m["name"]},
        "tokens": {o["address_hash"]: o for o in map(token_object, records.values())},
    }


def activity_objects(activities: Sequence[Activity]) -> list[paths.Object]:
    parties = ("fromAddress", "toAddress", "contractAddress")
    objects = AddressObjects(a.record.get(party) for a in activities for party in parties)
    token_objects = TokenObjects(a.record["tokenAddress"] for a in activities if a.rank == TRANSFER)
    add_methods(reader(), [a.context for a in activities], are_calls=True)
    transactions = [a.record for a in activities if a.rank not in (INTERNAL, TRANSFER)]
    failed = decoded_objects.failures(transactions)
    fees = _fees(activities)
    return [
        _activity(activity, fee, objects, token_objects)
        | {"status": (failed.get(activity.transaction_hash) or SUCCEEDED)["result"]}
        for activity, fee in zip(activities, fees, strict=True)
    ]


def _fees(activities: Sequence[Activity]) -> list[str]:
    """Return the fee of each transaction at its first row, and 0 at the others."""
    before = read_place()
    seen = set() if before is None else {before[:2]}
    fees = []
    for activity in activities:
        transaction = activity.place[:2]
        is_first = transaction not in seen and activity.rank != INTERNAL
        seen.add(transaction)
        fees.append(activity.context["fee"] if is_first else "0")
    return fees


def _activity(
    activity: Activity, fee: str, objects: AddressObjects, token_objects: TokenObjects
) -> paths.Object:
    record, is_transfer = activity.record, activity.rank == TRANSFER
    created, to = record.get("contractAddress"), record["toAddress"]
    if activity.rank == INTERNAL and CREATION in activity.kinds:
        created, to = to, None
    # What a move called comes before what it paid.
    kind = next((k for k in (CREATION, INTERACTION) if k in activity.kinds), COIN_TRANSFER)
    calls = is_transfer or INTERACTION in activity.kinds
    method = activity.context.get("method") if calls and activity.rank != INTERNAL else None
    return {
        "hash": activity.transaction_hash,
        "type": paths.STANDARDS[record["tokenType"]] if is_transfer else kind,
        "method": method,
        "from": objects.of(record["fromAddress"]),
        "to": objects.of_optional(to),
        "created_contract": objects.of_optional(created),
        "value": None if is_transfer else record["value"],
        "total": transfer_total(record) if is_transfer else None,
        "token": token_objects.of(record["tokenAddress"]) if is_transfer else None,
        "timestamp": paths.timestamp(record["timestamp"]),
        "fee": fee,
        **activity.indexes(),
    }


def _csv_row(activity: Activity, item: paths.Object) -> list[csv_text.Cell]:
    total, token = item["total"] or {}, item["token"] or {}
    addresses = (item[name] and item[name]["hash"] for name in ("from", "to", "created_contract"))
    method = None if activity.rank == INTERNAL else activity.context["methodId"]
    moved = (total.get(name) for name in ("value", "token_id"))
    symbol = csv_text.text(token.get("symbol") or "")
    return [
        item["hash"],
        item["type"],
        method,
        item["timestamp"],
        *addresses,
        item["value"],
        token.get("address_hash"),
        total.get("decimals"),
        symbol,
        *moved,
        item["block_number"],
        item["fee"],
        *[None] * 3,  # prices
    ]
