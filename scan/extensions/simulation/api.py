"""POST /api/v1/simulate."""

from flask import Blueprint

from scan import json_bodies
from scan.api.hooks import Api
from scan.extensions.simulation.outcomes import simulate
from scan.extensions.simulation.request import calls_of, overrides_of
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import block_argument, json_object, query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("simulation", __name__)


@blueprint.post("/simulate")
@requires(Prerequisite.NODE)
def simulate_calls() -> Response:
    sent = query_arguments("block")
    body = json_object()
    json_bodies.only_known(body, ("calls", "overrides"), "field")
    calls, overrides = calls_of(body), overrides_of(body)
    block, simulated = simulate(reader(), block_argument(sent), calls, overrides)
    return json_value(
        {
            "blockNumber": block.number,
            "blockHash": to_hex(block.hash),
            "calls": [one.record() for one in simulated],
        }
    )


HOOKS = Api(blueprints=(blueprint,))
