"""Lists of what blocks have besides transactions and logs: authorizations (EIP-7702), blobs,
execution requests, messages to L1; and what validators earned, at /stats/earnings.
"""

from collections.abc import Mapping

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.block_records import queries
from scan.hex import to_hex
from scan.http.list_responses import add_list, list_response
from scan.http.request_state import PARAMETER
from scan.http.requests import Response, json_value, query_arguments, reader
from scan.queries import blocks
from scan.queries.hooks import Entities
from scan.queries.pages import Page, Window

blueprint = Blueprint("authorizations", __name__)
add_list(blueprint, "/authorizations", "authorizations")


add_list(blueprint, "/blobs", "blobs")


@blueprint.get("/stats/earnings")
def list_earnings() -> Response:
    arguments = query_arguments("miner", "from", "to", "limit", "cursor", PARAMETER)
    return list_response("earnings", arguments, lambda window: page_of(window, arguments))


def page_of(window: Window, arguments: Mapping[str, str]) -> Page:
    """Return a page by the parameters of a request; raises InvalidParameter."""
    miner = parameters.optional_address(arguments, "miner")
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    return queries.earnings_page(reader(), window, miner, first, last)


add_list(blueprint, "/execution-requests", "execution_requests")


@blueprint.get("/blocks/<block>/execution-requests")
def list_execution_requests_of_block(block: str) -> Response:
    """Return the requests that a block included, which may be of older transactions."""
    query_arguments()
    named = parameters.block_number_or_hash(block)
    taken = queries.taken_by(reader(), named)
    if taken is None:
        raise blocks.not_indexed(reader(), named)
    hash_ = taken.requests_hash
    return json_value(
        {
            "blockNumber": taken.block_number,
            "requestsHash": None if hash_ is None else to_hex(hash_),
            "requests": taken.records,
        }
    )


add_list(blueprint, "/messages-to-l1", "messages_to_l1")


HOOKS = (Api(blueprints=(blueprint,)), Entities(pages={"authorizations": queries.page}))
