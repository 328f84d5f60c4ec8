"""GET /api/v1/blocks and /blocks/:numberOrHash."""

from flask import Blueprint, Response

from scan import params
from scan.api import chain_body, lists, page, query_arguments, services
from scan.api.lists import Window
from scan.errors import NotFound

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    limit, offset = params.page(query_arguments())
    return chain_body(page("blocks", lists.blocks(services().reads, Window(limit, offset))))


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    key = params.block_number_or_hash(block)
    number, block_hash = (key, None) if isinstance(key, int) else (None, key)
    body = services().reads.prepared_value("blocks_get", number=number, hash=block_hash)
    if body is None:
        raise NotFound("No such block is indexed.")
    return chain_body(body)
