"""GET /api/v1/addresses/:address/history and /balances, and sums of lists by month:
/transactions/sums, /transfers/sums, /internal/sums, and /tokens/:address/transfers/sums. The tabs
of an address that are made of these, and the pages of sums, at the paths of the API.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import orjson
from flask import Blueprint, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import HistoryUnavailable, InvalidParameter, NotFound
from scan.extensions.history import balance_history
from scan.extensions.history import queries as history
from scan.extensions.history.genesis_balances import GenesisBalances
from scan.extensions.history.sums import monthly_sums
from scan.hex import to_hex
from scan.http import request_state, requests
from scan.http.hooks import Service
from scan.http.requests import Response, json_value, query_arguments, reader, window_of
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
        *history.HistoryFilter._fields,
        *entities.RANGE,
        "group",
        "orderBy",
        "limit",
        "cursor",
        "format",
    )
    key, filters = parameters.address(address), history.read_filter(arguments)
    is_grouped = "group" in arguments
    if is_grouped:
        parameters.one_of(arguments["group"], "group", history.GROUPS)
    read = partial(history.page, reader(), key, filters=filters, is_grouped=is_grouped)
    kind = "historyEntries" if is_grouped else ""
    return requests.list_response("history", arguments, read, kind=kind, address=key)


@blueprint.get("/addresses/<address>/balances")
def list_balances(address: str) -> Response:
    arguments = query_arguments("points", "token", "cursor", "blockTo", "timeTo")
    points = parameters.integer_text(
        arguments, "points", default=DEFAULT_POINTS, least=1, most=parameters.MAX_LIMIT
    )
    token = parameters.optional_address(arguments, "token")
    key = parameters.address(address)
    read = balance_history.page(reader(), key, points, token, requests.window_of(arguments))
    unexplained = read.check.unexplained
    history = {
        "balances": read.points,
        "symbol": read.symbol,
        "decimals": read.decimals,
        "unproven": read.unproven,
        "complete": read.check.reason is None,
        "reason": read.check.reason,
        "unexplained": None if unexplained is None else str(unexplained),
        "next": read.next,
    }
    response = json_value(history if read.at is None else {**history, "at": read.at})
    if read.next is not None:
        response.headers["Link"] = requests.next_link(read.next, arguments)
    return response


class Summed(NamedTuple):
    """A list that is summed, of an address or a token: the name of these in paths of pages and of
    the API, the filter that a path has, the last part of the list's path, its entity."""

    parent: str
    collection: str
    key: str
    rows: str
    entity: str


SUMMED = (
    Summed("address", "addresses", "address", "transactions", "transactions"),
    Summed("address", "addresses", "address", "transfers", "token_transfers"),
    Summed("address", "addresses", "address", "internal", "internal_transfers"),
    Summed("token", "tokens", "tokenAddress", "transfers", "token_transfers"),
)
# The kinds of CSV files of sums, by entity.
FILES = {
    "transactions": "transactionSums",
    "token_transfers": "transferSums",
    "internal_transfers": "internalTransferSums",
}


def list_sums(summed: Summed, address: str) -> Response:
    """Return the sums of a list by month."""
    if summed.key == "tokenAddress":
        tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    keys = [name for name in pages.FILTER_KEYS[summed.entity] if name != summed.key]
    arguments = query_arguments(*keys, *entities.RANGE, request_state.PARAMETER)
    filters = {**arguments, summed.key: address}
    party = parameters.optional_address(filters, "address")

    def read(window: pages.Window) -> pages.Page:
        page = monthly_sums.page(reader(), summed.entity, window, filters, party)
        return monthly_sums.valued_page(page)

    def of_months(window: pages.Window) -> pages.Page:
        # Without the sums of all rows, which a spreadsheet would add to the months'.
        page = read(window)
        sums = [record for record in orjson.loads(page.data) if record["month"] != "all"]
        return replace(page, data=orjson.dumps(sums).decode(), count=len(sums))

    return requests.list_response(
        "sums", arguments, read, kind=FILES[summed.entity], address=party, read_for_file=of_months
    )


for of_list in SUMMED:
    path = f"/{of_list.collection}/<address>/{of_list.rows}/sums"
    blueprint.add_url_rule(path, path, partial(list_sums, of_list))


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
    points = []
    for point in balances.points:
        points.append(Point(parameters.unix_seconds(point["timestamp"]), int(point["balance"])))
    title = f"Balance, {formatting.short_name(balances.symbol)}" if balances.symbol else "Balance"
    return line_chart(points, title=title, decimals=balances.decimals or 0)


page_views = Blueprint("pages_history", __name__)


def show_sums(summed: Summed, address: str) -> Response:
    """Return the page of a list's sums by month."""
    key = address_of(address)
    shown_address = to_hex(key)
    parent = f"/{summed.parent}/{shown_address}"

    def read(reader: Reader, entity: str, window: Window, values: Mapping[str, str]) -> Page:
        of = key if summed.key == "address" else parameters.optional_address(values, "address")
        return monthly_sums.page(reader, entity, window, values, of)

    listed = filtered_lists.entity_list(
        summed.entity,
        f"{parent}/{summed.rows}/sums",
        f"/{summed.collection}/{shown_address}/{summed.rows}/sums",
        fixed={summed.key: shown_address},
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
        rows=summed.rows,
        noun=summed.entity.removesuffix("s").replace("_", " "),
        prices=holdings.unit_prices(reader()),
    )


for of_list in SUMMED:
    path = f"/{of_list.parent}/<address>/{of_list.rows}/sums"
    page_views.add_url_rule(path, path, partial(show_sums, of_list))


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
        ),
        blueprints=(page_views,),
        sections=(hooks.Section({"list": "list_sums.html"}),),
    ),
)
