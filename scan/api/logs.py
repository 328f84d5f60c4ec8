"""GET /api/v1/logs."""

from flask import Blueprint, Response

from scan import parameters
from scan.http.requests import query_arguments, reader
from scan.http.responses import list_body
from scan.parameters import BIGINT_MAX
from scan.queries import logs
from scan.queries.logs import FILTER_KEYS
from scan.queries.pages import Window

blueprint = Blueprint("logs", __name__)


@blueprint.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments(*FILTER_KEYS, "blockFrom", "blockTo", *parameters.PAGED)
    limit, offset = parameters.limit_and_offset(arguments)
    block_from = parameters.integer_text(arguments, "blockFrom", default=0, least=0)
    block_to = parameters.integer_text(arguments, "blockTo", default=BIGINT_MAX, least=0)
    window = Window(limit, offset, block_from=block_from, block_to=block_to)
    log_filter = logs.read_filter(arguments)
    return list_body("logs", logs.page(reader(), window, log_filter, has_total=True))
