"""GET /api/v1/execution-requests and /blocks/:numberOrHash/execution-requests."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.block_records.execution_requests import queries
from scan.hex import to_hex
from scan.http.list_responses import add_list
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value
from scan.queries import blocks

blueprint = Blueprint("execution_requests", __name__)
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


HOOKS = Api(blueprints=(blueprint,))
