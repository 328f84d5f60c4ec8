"""GET /api/v1/addresses/:address/history and /balances, and the tabs of an address that are made of
these."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Blueprint, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import HistoryUnavailable, InvalidParameter, NotFound
from scan.extensions.history import balance_history
from scan.extensions.history import queries as history
from scan.extensions.history.genesis_balances import GenesisBalances
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.hooks import Service
from scan.http.json_responses import Response, json_value
from scan.http.list_responses import list_response, next_link, window_of
from scan.pages import filtered_lists, formatting, hooks
from scan.pages.records import names_of
from scan.pages.svg_charts import Chart, Point, line_chart
from scan.queries import addresses, entities
from scan.queries.list_pages import Window

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
    return list_response("history", arguments, read, kind=kind, address=key)


@blueprint.get("/addresses/<address>/balances")
def list_balances(address: str) -> Response:
    arguments = query_arguments("points", "token", "cursor", "blockTo", "timeTo")
    points = parameters.integer_text(
        arguments, "points", default=DEFAULT_POINTS, least=1, most=parameters.MAX_LIMIT
    )
    token = parameters.optional_address(arguments, "token")
    key = parameters.address(address)
    read = balance_history.page(reader(), key, points, token, window_of(arguments))
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
        response.headers["Link"] = next_link(read.next, arguments)
    return response


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
        filtered_lists.Field("counterparty", "With address", "address"),
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
        position = {name: values[name] for name in names if name in values}
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
)
