"""GET /api/v1/blocks and /blocks/:numberOrHash."""

from flask import Blueprint, Response

from scan import parameters
from scan.api import lists
from scan.api.lists import Window, page
from scan.errors import NotFound
from scan.http.requests import query_arguments
from scan.http.responses import chain_body
from scan.http.services import services

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    limit, offset = parameters.page(query_arguments())
    return chain_body(page("blocks", lists.blocks(services().reads, Window(limit, offset))))


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    key = parameters.block_number_or_hash(block)
    number, block_hash = (key, None) if isinstance(key, int) else (None, key)
    body = services().reads.prepared_value("api/blocks_get", number=number, hash=block_hash)
    if body is None:
        raise NotFound("No such block is indexed.")
    return chain_body(body)
