"""GET /api/v1/blocks, /blocks/latest and /blocks/:numberOrHash."""

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http.list_responses import LIST_ARGUMENTS, list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.queries import blocks
from scan.queries.pages import Window

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    arguments = query_arguments(*LIST_ARGUMENTS)
    return list_response(
        "blocks", arguments, lambda *window: blocks.page(reader(), Window(*window))
    )


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    query_arguments()
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    record = blocks.get(reader(), named)
    if record is None:
        raise NotFound("This block is not indexed.")
    return json_body(record)
