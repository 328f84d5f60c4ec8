"""GET /api/v1/stats/daily, /stats/largest-transfers and /gas."""

import flask
import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.cached_values import LazySequence
from scan.extensions.chain_statistics import statistics
from scan.extensions.exports.csv_columns import csv_text
from scan.http.request_state import FORMATS, JSON, PARAMETER, TYPES, Format
from scan.http.requests import Response, json_body, json_value, query_arguments, reader

DAILY_FORMATS = LazySequence(lambda: (f for f in FORMATS if f != Format.NDJSON.value))

blueprint = Blueprint("chain_statistics", __name__)


@blueprint.get("/gas")
def get_gas() -> Response:
    query_arguments()
    return json_value(statistics.price(reader()))


@blueprint.get("/stats/daily")
def list_days() -> Response:
    arguments = query_arguments("from", "to", PARAMETER)
    chosen = parameters.one_of(arguments.get(PARAMETER, JSON), PARAMETER, DAILY_FORMATS)
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    days = statistics.days(reader(), first, last)
    if chosen == Format.CSV.value:
        return flask.Response(
            csv_text("days", orjson.loads(days.data)),
            headers={
                "Content-Disposition": 'attachment; filename="days.csv"',
                "X-Content-Type-Options": "nosniff",
            },
            content_type=f"{TYPES[Format.CSV]}; charset=utf-8; header=present",
        )
    ends = f'"from":{_quoted(days.first)},"to":{_quoted(days.last)}'
    return json_body(f'{{{ends},"complete":true,"days":{days.data}}}')


@blueprint.get("/stats/largest-transfers")
def list_largest_transfers() -> Response:
    arguments = query_arguments("tokenAddress", "date")
    token = parameters.optional_address(arguments, "tokenAddress")
    day = parameters.optional_date(arguments, "date")
    if token is None:
        name, largest = "transactions", statistics.largest_transactions(reader(), day)
    else:
        name, largest = "transfers", statistics.largest_token_transfers(reader(), token, day)
    block = "null" if largest.first_block is None else largest.first_block
    sample = f'"of":{largest.sample},"blockFrom":{block}'
    if day is not None:
        sample += f',"date":"{day.isoformat()}","total":{largest.total}'
    return json_body(f'{{{sample},"{name}":{largest.data}}}')


def _quoted(day: str | None) -> str:
    return "null" if day is None else f'"{day}"'


HOOKS = Api(blueprints=(blueprint,))
