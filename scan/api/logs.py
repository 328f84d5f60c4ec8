"""GET /api/v1/logs, and the filter of logs that /query takes, too."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from scan import parameters
from scan.ethereum.log_filter import LogFilter, having_all
from scan.http.requests import query_arguments, reader
from scan.http.responses import list_body
from scan.parameters import BIGINT_MAX
from scan.queries import logs
from scan.queries.logs import TOPIC_NAMES
from scan.queries.pages import Window

FILTER_KEYS = ("address", *TOPIC_NAMES, "blockFrom", "blockTo")

blueprint = Blueprint("logs", __name__)


@blueprint.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments(*FILTER_KEYS, *parameters.PAGED)
    limit, offset = parameters.limit_and_offset(arguments)
    block_from = parameters.integer_text(arguments, "blockFrom", default=0, least=0)
    block_to = parameters.integer_text(arguments, "blockTo", default=BIGINT_MAX, least=0)
    window = Window(limit, offset, block_from=block_from, block_to=block_to)
    return list_body("logs", logs.page(reader(), window, read_filter(arguments), has_total=True))


def read_filter(arguments: Mapping[str, Any]) -> LogFilter:
    """Of address and topic0 to topic3: all that are given must match."""
    topics = [
        parameters.hash32(arguments[name], name) if name in arguments else None
        for name in TOPIC_NAMES
    ]
    return having_all(parameters.optional_address(arguments, "address"), topics)
