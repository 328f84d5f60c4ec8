"""GET /api/v1/stats and /stats/daily."""

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.exports.csv_columns import csv_text
from scan.exports.list_file import Format
from scan.http.list_format import JSON, PARAMETER, TYPES
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.http.services import services
from scan.queries import daily_stats, network

blueprint = Blueprint("network", __name__)

DAILY_FORMATS = (JSON, Format.CSV.value)


@blueprint.get("/stats")
def stats() -> Response:
    query_arguments()
    return json_body(network.stats(reader(), services().settings.chain_name or None))


@blueprint.get("/stats/daily")
def list_days() -> Response:
    arguments = query_arguments("from", "to", PARAMETER)
    chosen = parameters.one_of(arguments.get(PARAMETER, JSON), PARAMETER, DAILY_FORMATS)
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    days = daily_stats.days(reader(), first, last)
    if chosen == Format.CSV.value:
        return Response(
            csv_text("days", orjson.loads(days.data)),
            headers={
                "Content-Disposition": 'attachment; filename="days.csv"',
                "X-Content-Type-Options": "nosniff",
            },
            content_type=f"{TYPES[Format.CSV]}; charset=utf-8; header=present",
        )
    ends = f'"from":{_quoted(days.first)},"to":{_quoted(days.last)}'
    return json_body(f'{{{ends},"complete":{str(days.complete).lower()},"days":{days.data}}}')


def _quoted(day: str | None) -> str:
    return "null" if day is None else f'"{day}"'
