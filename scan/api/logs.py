"""GET /api/v1/logs."""

from flask import Blueprint, Response

from scan import parameters
from scan.http.list_responses import LIST_ARGUMENTS, list_response
from scan.http.requests import query_arguments, reader
from scan.parameters import BIGINT_MAX
from scan.queries import logs
from scan.queries.logs import FILTER_KEYS
from scan.queries.pages import Window

blueprint = Blueprint("logs", __name__)


@blueprint.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments(*FILTER_KEYS, "blockFrom", "blockTo", *LIST_ARGUMENTS)
    block_from = parameters.integer_text(arguments, "blockFrom", default=0, least=0)
    block_to = parameters.integer_text(arguments, "blockTo", default=BIGINT_MAX, least=0)
    log_filter = logs.read_filter(arguments)

    def window(limit: int, offset: int) -> Window:
        return Window(limit, offset, block_from=block_from, block_to=block_to)

    return list_response(
        "logs",
        arguments,
        lambda *rows: logs.page(reader(), window(*rows), log_filter, has_total=True),
        read_for_file=lambda *rows: logs.stored_page(reader(), window(*rows), log_filter),
    )
