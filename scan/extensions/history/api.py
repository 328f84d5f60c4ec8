"""GET /api/v1/addresses/:address/history and /balances."""

from collections.abc import Mapping

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.history import balance_history
from scan.extensions.history import queries as history
from scan.extensions.history.queries import HistoryFilter, HistoryPage
from scan.http.list_responses import list_body, list_response, next_link, window_of
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value
from scan.queries.entities import RANGE
from scan.queries.pages import Page

DEFAULT_POINTS = 40

blueprint = Blueprint("history", __name__)


@blueprint.get("/addresses/<address>/history")
def list_history(address: str) -> Response:
    arguments = query_arguments(
        *HistoryFilter._fields, *RANGE, "group", "orderBy", "limit", "cursor", "format"
    )
    key, filters = parameters.address(address), history.read_filter(arguments)
    is_grouped = "group" in arguments
    if is_grouped:
        parameters.one_of(arguments["group"], "group", history.GROUPS)
    return list_response(
        "history",
        arguments,
        lambda window: history.page(reader(), key, window, filters, is_grouped=is_grouped),
        kind="historyEntries" if is_grouped else "",
        own=key,
        body=_history_body,
    )


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
        response.headers["Link"] = next_link(read.next, arguments)
    return response


def _history_body(name: str, page: Page, arguments: Mapping[str, str]) -> Response:
    assert isinstance(page, HistoryPage)
    unexplained = None if page.unexplained is None else str(page.unexplained)
    return list_body(
        name,
        page,
        arguments,
        complete=page.reason is None,
        reason=page.reason,
        unexplained=unexplained,
        **({"explanation": page.explanation} if page.explanation else {}),
    )


HOOKS = Api(blueprints=(blueprint,))
