"""GET /api/v1/logs."""

from flask import Blueprint, Response

from scan.http.lists import ORDERED, list_body, window_of
from scan.http.requests import query_arguments, reader
from scan.queries import logs
from scan.queries.logs import FILTER_KEYS

blueprint = Blueprint("logs", __name__)


@blueprint.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments(*FILTER_KEYS, *ORDERED)
    log_filter = logs.read_filter(arguments)
    page = logs.page(reader(), window_of(arguments), log_filter, has_total=True)
    return list_body("logs", page)
