"""GET /api/v1/logs."""

from flask import Blueprint, Response

from scan import parameters
from scan.http import log_lists
from scan.http.chain_lists import PageRequest, page_body
from scan.http.log_lists import TOPIC_NAMES
from scan.http.requests import query_arguments
from scan.http.responses import json_body
from scan.parameters import BIGINT_MAX

blueprint = Blueprint("logs", __name__)


@blueprint.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments("address", *TOPIC_NAMES, "blockFrom", "blockTo", *parameters.PAGED)
    limit, offset = parameters.limit_and_offset(arguments)
    block_from = parameters.integer_text(arguments, "blockFrom", default=0, least=0)
    block_to = parameters.integer_text(arguments, "blockTo", default=BIGINT_MAX, least=0)
    request = PageRequest(limit, offset, block_from=block_from, block_to=block_to)
    page = log_lists.logs(request, log_lists.read_filter(arguments), has_total=True)
    return json_body(page_body("logs", page))
