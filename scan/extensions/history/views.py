"""GET /api/v1/addresses/:address/history and /balances, and sums of lists by month:
/transactions/sums, /transfers/sums, /internal/sums, and /tokens/:address/transfers/sums. The tabs
of an address that are made of these, and the pages of sums, at the paths of the API.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson
from flask import Blueprint, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import HistoryUnavailable, InvalidParameter, NotFound
from scan.extensions.history import balance_history
from scan.extensions.history import queries as history
from scan.extensions.history.genesis_balances import GenesisBalances
from scan.extensions.history.queries import HistoryFilter
from scan.extensions.history.sums import monthly_sums
from scan.extensions.history.sums.monthly_sums import valued_page
from scan.hex import to_hex
from scan.http import list_responses, request_state
from scan.http.hooks import Service
from scan.http.list_responses import window_of
from scan.http.requests import Response, json_value, query_arguments, reader
from scan.pages import filtered_lists, formatting, hooks
from scan.pages.records import address_of, names_of
from scan.pages.svg_charts import Chart, Point, line_chart
from scan.queries import addresses, entities, holdings, pages, tokens
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

DEFAULT_POINTS = 40

blueprint = Blueprint("history", __name__)


@blueprint.get("/addresses/<address>/history")
def list_history(address: str) -> Response:
    arguments = query_arguments(
        *HistoryFilter._fields, *entities.RANGE, "group", "orderBy", "limit", "cursor", "format"
    )
    key, filters = parameters.address(address), history.read_filter(arguments)
    is_grouped = "group" in arguments
    if is_grouped:
        parameters.one_of(arguments["group"], "group", history.GROUPS)
    return list_responses.list_response(
        "history",
        arguments,
        lambda window: history.page(reader(), key, window, filters, is_grouped=is_grouped),
        kind="historyEntries" if is_grouped else "",
        address=key,
    )


@blueprint.get("/addresses/<address>/balances")
def list_balances(address: str) -> Response:
    arguments = query_arguments("points", "token", "cursor", "blockTo", "timeTo")
    points = parameters.integer_text(
        arguments, "points", default=DEFAULT_POINTS, least=1, most=parameters.MAX_LIMIT
    )
    token = parameters.optional_address(arguments, "token")
    key = parameters.address(address)
    read = balance_history.page(reader(), key, points, token, list_responses.window_of(arguments))
    unexplained = read.check.unexplained
    response = json_value(
        {
            "balances": read.points,
            "symbol": read.symbol,
            "decimals": read.decimals,
            "unproven": [] if token is None else ["symbol", "decimals"],
            "complete": read.check.reason is None,
            "reason": read.check.reason,
            "unexplained": None if unexplained is None else str(unexplained),
            "next": read.next,
            **({} if read.at is None else {"at": read.at}),
        }
    )
    if read.next is not None:
        response.headers["Link"] = list_responses.next_link(read.next, arguments)
    return response


# The kinds of CSV files of sums, by entity.
FILES = {
    "transactions": "transactionSums",
    "token_transfers": "transferSums",
    "internal_transfers": "internalTransferSums",
}


@blueprint.get("/addresses/<address>/transactions/sums")
def sum_transactions(address: str) -> Response:
    return _sums("transactions", address=address)


@blueprint.get("/addresses/<address>/transfers/sums")
def sum_transfers_of_address(address: str) -> Response:
    return _sums("token_transfers", address=address)


@blueprint.get("/addresses/<address>/internal/sums")
def sum_internal_transfers(address: str) -> Response:
    return _sums("internal_transfers", address=address)


@blueprint.get("/tokens/<address>/transfers/sums")
def sum_transfers_of_token(address: str) -> Response:
    tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    return _sums("token_transfers", tokenAddress=address)


def _sums(entity: str, **fixed: str) -> Response:
    keys = [key for key in pages.FILTER_KEYS[entity] if key not in fixed]
    arguments = query_arguments(*keys, *entities.RANGE, request_state.PARAMETER)
    filters = {**arguments, **fixed}
    address = parameters.optional_address(filters, "address")

    def read(window: pages.Window) -> pages.Page:
        return valued_page(monthly_sums.page(reader(), entity, window, filters, address))

    return list_responses.list_response(
        "sums",
        arguments,
        read,
        kind=FILES[entity],
        address=address,
        read_for_file=lambda window: _of_months(read(window)),
    )


def _of_months(page: pages.Page) -> pages.Page:
    """Return sums without those of all rows, which a spreadsheet would add to the months'."""
    sums = [record for record in orjson.loads(page.data) if record["month"] != "all"]
    return replace(page, data=orjson.dumps(sums).decode(), count=len(sums))


CHART_POINTS = 40
MAX_CHOICES = 20  # tokens to choose from
MAX_LINES = 8  # of an entry
FEES = ("show", "hide")
BALANCE_FIELDS = (
    filtered_lists.Field("token", "The token", "address"),
    filtered_lists.Field("timeTo", "The day", "day"),
    filtered_lists.Field("blockTo", "The block", "number"),
)


def _history_tab(key: bytes) -> tuple[filtered_lists.FilteredList, dict[str, Any]]:
    """Return the list and the other values of address_history.html."""
    fees = parameters.one_of(request.args.get("fees", FEES[0]), "fees", FEES)
    kinds = {name: name.replace("_", " ") for name in history.TYPES}
    directions = {name: name for name in history.DIRECTIONS}
    fields = (
        filtered_lists.Field("types", "Kind", "choice", kinds),
        filtered_lists.Field("direction", "Direction", "choice", directions),
        filtered_lists.Field("token", "Token", "address"),
        filtered_lists.Field("counterparty", "Counterparty", "address"),
        *filtered_lists.RANGES,
    )

    def read(window: Window, values: Mapping[str, str]) -> history.HistoryPage:
        filters = history.read_filter(values)
        if fees == "hide":
            filters = filters._replace(types=tuple(t for t in filters.types if t != "fee"))
        return history.page(reader(), key, window, filters, is_grouped=True)

    listed = filtered_lists.filtered_list(
        f"/address/{to_hex(key)}",
        f"/addresses/{to_hex(key)}/history",
        fields,
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


page_views = Blueprint("pages_history", __name__)
# The entity and the rows' name by the last part of a list's path.
LISTS = {
    "transactions": ("transactions", "transaction"),
    "transfers": ("token_transfers", "token transfer"),
    "internal": ("internal_transfers", "internal transfer"),
}


@page_views.get("/address/<address>/transactions/sums")
def get_sums_of_transactions(address: str) -> Response:
    return _page("transactions", "address", "/addresses", address_of(address))


@page_views.get("/address/<address>/transfers/sums")
def get_sums_of_transfers(address: str) -> Response:
    return _page("transfers", "address", "/addresses", address_of(address))


@page_views.get("/address/<address>/internal/sums")
def get_sums_of_internal_transfers(address: str) -> Response:
    return _page("internal", "address", "/addresses", address_of(address))


@page_views.get("/token/<address>/transfers/sums")
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
    Api(blueprints=(blueprint,)),
    Service(make=lambda core: GenesisBalances(core.writes)),
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
    hooks.Pages(blueprints=(page_views,), sections=(hooks.Section({"list": "list_sums.html"}),)),
)
