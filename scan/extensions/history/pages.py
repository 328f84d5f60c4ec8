"""The tabs of an address that are made of its history (an entry a transaction, balances), and the
pages of sums, at the paths of the API, with the link to them beside each of their lists.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import HistoryUnavailable, InvalidParameter, NotFound
from scan.extensions.history import balance_history, queries
from scan.extensions.history import queries as history
from scan.extensions.history.sums import monthly_sums
from scan.hex import to_hex
from scan.http.list_responses import window_of
from scan.http.requests import query_arguments, reader
from scan.pages import filtered_lists, formatting, hooks
from scan.pages.records import address_of, names_of
from scan.pages.svg_charts import Chart, Point, line_chart
from scan.queries import addresses, holdings
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

CHART_POINTS = 40
MAX_CHOICES = 20  # tokens to choose from
MAX_LINES = 8  # of an entry
FEES = ("show", "hide")
BALANCE_FIELDS = (
    filtered_lists.Field("token", "The token", "address"),
    filtered_lists.Field("timeTo", "The day", "day"),
    filtered_lists.Field("blockTo", "The block", "number"),
)
HISTORY_FIELDS = (
    filtered_lists.Field(
        "types", "Kind", "choice", {name: name.replace("_", " ") for name in history.TYPES}
    ),
    filtered_lists.Field(
        "direction", "Direction", "choice", {name: name for name in history.DIRECTIONS}
    ),
    filtered_lists.Field("token", "Token", "address"),
    filtered_lists.Field("counterparty", "Counterparty", "address"),
    *filtered_lists.RANGES,
)


def _history_tab(key: bytes) -> tuple[filtered_lists.FilteredList, dict[str, Any]]:
    """Return the list and the other values of address_history.html."""
    fees = parameters.one_of(request.args.get("fees", FEES[0]), "fees", FEES)

    def read(window: Window, values: Mapping[str, str]) -> queries.HistoryPage:
        filters = history.read_filter(values)
        if fees == "hide":
            filters = filters._replace(types=tuple(t for t in filters.types if t != "fee"))
        return history.page(reader(), key, window, filters, is_grouped=True)

    listed = filtered_lists.filtered_list(
        f"/address/{to_hex(key)}",
        f"/addresses/{to_hex(key)}/history",
        HISTORY_FIELDS,
        read,
        tab="history",
        more=("fees",),
        paging=("limit", "cursor", "orderBy"),
    )
    for entry in listed.records:
        rows = [row for row in entry["rows"] if row["type"] != "fee"]
        entry["lines"], entry["others"] = rows[:MAX_LINES], rows[MAX_LINES:]
        entry["folded"] = len(rows) > 0 and all(row["suspicious"] for row in rows)
        entry["fee"] = next((row for row in entry["rows"] if row["type"] == "fee"), None)
    names = names_of((row for entry in listed.records for row in entry["lines"]), to_hex(key))
    return listed, {"check": listed.source, "fees": fees, "names": names}


def _balance_tab(key: bytes) -> tuple[None, dict[str, Any]]:
    """Return the values of address_balance.html; `error` is why there are no balances."""
    names = ("cursor", "blockTo", "timeTo")
    arguments = query_arguments("tab", "token", *names)
    # Browsers also send fields that were left empty, such as the token for the coin.
    values = {name: value.strip() for name, value in arguments.items() if value.strip()}
    token, read, refusal = None, None, None
    try:
        token = parameters.optional_address(values, "token")
        if {"blockTo", "timeTo"} <= values.keys():
            raise InvalidParameter("blockTo: give a day or a block, not both.", field="blockTo")
        position = {
            name: filtered_lists.api_text(name, values[name]) for name in names if name in values
        }
        read = balance_history.page(reader(), key, CHART_POINTS, token, window_of(position))
    except (InvalidParameter, NotFound, HistoryUnavailable) as error:
        reader().do_not_cache()
        error.message, refusal = filtered_lists.in_words(error, BALANCE_FIELDS), error
    held = addresses.tokens_held(reader(), key, Window(MAX_CHOICES, 0))
    return None, {
        "balances": read,
        "error": refusal,
        "chart": read and _chart(read),
        "token": None if token is None else to_hex(token),
        "held": json.loads(held.data),
        "given": values,
        "names": names_of([], to_hex(key)),
    }


def _chart(balances: balance_history.BalanceHistory) -> Chart | None:
    points = [
        Point(int(datetime.fromisoformat(point["timestamp"]).timestamp()), int(point["balance"]))
        for point in balances.points
    ]
    title = f"Balance, {formatting.short_name(balances.symbol)}" if balances.symbol else "Balance"
    return line_chart(points, title=title, decimals=balances.decimals or 0)


blueprint = Blueprint("pages_history", __name__)
# The entity and the rows' name by the last part of a list's path.
LISTS = {
    "transactions": ("transactions", "transaction"),
    "transfers": ("token_transfers", "token transfer"),
    "internal": ("internal_transfers", "internal transfer"),
}


@blueprint.get("/address/<address>/transactions/sums")
def get_sums_of_transactions(address: str) -> Response:
    return _page("transactions", "address", "/addresses", address_of(address))


@blueprint.get("/address/<address>/transfers/sums")
def get_sums_of_transfers(address: str) -> Response:
    return _page("transfers", "address", "/addresses", address_of(address))


@blueprint.get("/address/<address>/internal/sums")
def get_sums_of_internal_transfers(address: str) -> Response:
    return _page("internal", "address", "/addresses", address_of(address))


@blueprint.get("/token/<address>/transfers/sums")
def get_sums_of_token(address: str) -> Response:
    return _page("transfers", "tokenAddress", "/tokens", address_of(address))


def _page(rows: str, key: str, collection: str, address: bytes) -> Response:
    entity, noun = LISTS[rows]
    shown_address = to_hex(address)
    parent = f"/{key.removesuffix('Address')}/{shown_address}"

    def read(reader: Reader, entity: str, window: Window, values: Mapping[str, str]) -> Page:
        of = address if key == "address" else parameters.optional_address(values, "address")
        return monthly_sums.page(reader, entity, window, values, of)

    listed = filtered_lists.entity_list(
        entity,
        f"{parent}/{rows}/sums",
        f"{collection}/{shown_address}/{rows}/sums",
        fixed={key: shown_address},
        paging=(),
        page_of=read,
    )
    names = names_of(listed.records, shown_address)
    return listed.response(
        "sums.html",
        shown=listed,
        names=names,
        address=shown_address,
        parent=parent,
        rows=rows,
        noun=noun,
        prices=holdings.unit_prices(reader()),
    )


HOOKS = (
    hooks.Pages(
        tabs=(
            hooks.AddressTab(
                "history", "History", 20, template="address_history.html", read=_history_tab
            ),
            hooks.AddressTab(
                "chart",
                "Balance",
                80,
                template="address_balance.html",
                read=_balance_tab,
                group=hooks.HOLDINGS,
            ),
        )
    ),
    hooks.Pages(blueprints=(blueprint,), sections=(hooks.Section({"list": "list_sums.html"}),)),
)
