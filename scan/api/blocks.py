"""GET /api/v1/blocks, /blocks/latest and /blocks/:numberOrHash."""

from collections.abc import Mapping

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http.list_responses import LISTED, list_response
from scan.http.lists import RANGE
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.queries import blocks

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    arguments = query_arguments("time", *LISTED, *RANGE)
    if "time" in arguments:
        return _block_at(arguments)
    return list_response("blocks", arguments, lambda window: blocks.page(reader(), window))


def _block_at(arguments: Mapping[str, str]) -> Response:
    """The newest at or before `time`, which stands alone."""
    parameters.only_known_arguments(arguments, ("time",))
    record = blocks.at_time(reader(), parameters.time_s(arguments["time"], "time", is_upper=True))
    if record is None:
        raise NotFound("No block at or before this time is indexed.")
    return json_body(record)


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    query_arguments()
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    record = blocks.get(reader(), named)
    if record is None:
        raise NotFound("This block is not indexed.")
    return json_body(record)
