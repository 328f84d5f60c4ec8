"""/blocks and /block/:numberOrHash."""

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.http import chain_lists
from scan.pages.method_names import add_methods
from scan.pages.records import listing, names_of, page_request, record
from scan.pages.site import page

blueprint = Blueprint("pages_blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    blocks = listing(chain_lists.blocks(page_request()))
    return page("blocks.html", blocks=blocks, names=names_of(blocks.records))


@blueprint.get("/block/<block>")
def get_block(block: str) -> Response:
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    number = named if isinstance(named, int) else None
    block_hash = named if isinstance(named, bytes) else None
    found = record(
        "api/blocks_get",
        number=number,
        hash=block_hash,
        has_number=number is not None,
        has_hash=block_hash is not None,
    )
    if found is None:
        raise NotFound("This block is not indexed: it may be to come, or of a fork left behind.")
    transactions = listing(chain_lists.transactions(page_request(found["number"])))
    add_methods(transactions.records)
    names = names_of([found, *transactions.records, *found.get("withdrawals", ())])
    return page("block.html", block=found, transactions=transactions, names=names)
