"""GET /api/v1/stats and /stats/finality."""

import orjson
from flask import Blueprint

from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_body, json_value
from scan.http.services import services
from scan.queries import blocks, network

blueprint = Blueprint("network", __name__)


@blueprint.get("/stats")
def stats() -> Response:
    query_arguments()
    record = network.stats(reader(), services().settings.chain_name or None)
    kept_from = reader().kept_from
    if kept_from is not None:
        record = f'{record[:-1]},"keptFrom":{orjson.dumps(kept_from.record()).decode()}}}'
    if reader().incomplete:
        record = f'{record[:-1]},"completeFrom":{orjson.dumps(reader().incomplete).decode()}}}'
    return json_body(record)


@blueprint.get("/stats/finality")
def get_finality() -> Response:
    """Return the node's finality, as far as it answers."""
    query_arguments()
    finality = blocks.finality(reader())
    newest = blocks.newest_number(reader())
    return json_value(
        {
            "latestBlock": newest,
            "safeBlock": finality.safe,
            "finalizedBlock": finality.finalized,
        }
    )
