"""GET /api/v1/blocks, /blocks/latest and /blocks/:numberOrHash."""

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http import chain_lists as lists
from scan.http.chain_lists import PageRequest, page_body
from scan.http.chain_reads import read_chain
from scan.http.requests import query_arguments
from scan.http.responses import json_body

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    request = PageRequest(*parameters.limit_and_offset(query_arguments(*parameters.PAGED)))
    return json_body(page_body("blocks", lists.blocks(request)))


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    query_arguments()
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    number = named if isinstance(named, int) else None
    block_hash = named if isinstance(named, bytes) else None
    (body,) = read_chain(
        "api/blocks_get",
        number=number,
        hash=block_hash,
        has_number=number is not None,
        has_hash=block_hash is not None,
    )
    if body is None:
        raise NotFound("No such block is indexed.")
    return json_body(body)
