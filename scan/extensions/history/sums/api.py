"""GET /api/v1/addresses/:address/transactions/sums, …/transfers/sums, …/internal/sums, and
/tokens/:address/transfers/sums."""

from dataclasses import replace

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.history.sums import monthly_sums
from scan.extensions.history.sums.worth import with_worth
from scan.http.list_format import PARAMETER
from scan.http.list_responses import list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response
from scan.queries import tokens
from scan.queries.entities import RANGE
from scan.queries.filters import FILTER_KEYS
from scan.queries.pages import Page, Window

blueprint = Blueprint("sums", __name__)

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
    keys = [key for key in FILTER_KEYS[entity] if key not in fixed]
    arguments = query_arguments(*keys, *RANGE, PARAMETER)
    filters = {**arguments, **fixed}
    own = parameters.optional_address(filters, "address")

    def read(window: Window) -> Page:
        return with_worth(monthly_sums.page(reader(), entity, window, filters, own))

    return list_response(
        "sums",
        arguments,
        read,
        kind=FILES[entity],
        own=own,
        read_for_file=lambda window: _of_months(read(window)),
    )


def _of_months(page: Page) -> Page:
    """Return sums without those of all rows, which a spreadsheet would add to the months'."""
    sums = [record for record in orjson.loads(page.data) if record["month"] != "all"]
    return replace(page, data=orjson.dumps(sums).decode(), count=len(sums))


HOOKS = Api(blueprints=(blueprint,))
