"""GET /api/v1/addresses/:address/history and /balances, and sums of its lists by month:
/transactions/sums, /transfers/sums, /internal/sums, and /tokens/:address/transfers/sums.
"""

from dataclasses import replace

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.history import balance_history
from scan.extensions.history import queries as history
from scan.extensions.history.genesis_balances import GenesisBalances
from scan.extensions.history.queries import HistoryFilter
from scan.extensions.history.sums import monthly_sums
from scan.extensions.history.sums.monthly_sums import valued_page
from scan.http import list_responses, request_state
from scan.http.hooks import Service
from scan.http.requests import Response, json_value, query_arguments, reader
from scan.queries import entities, pages, tokens

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


HOOKS = (Api(blueprints=(blueprint,)), Service(make=lambda core: GenesisBalances(core.writes)))
