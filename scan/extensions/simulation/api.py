"""POST /api/v1/simulate."""

from flask import Blueprint

from scan import json_bodies
from scan.api.hooks import Api
from scan.contracts.read_calls import GAS
from scan.errors import InvalidParameter, TracesUnavailable
from scan.extensions.internal_transfers.transaction_traces import TOO_LARGE
from scan.extensions.simulation.outcomes import anonymous_gas, simulate
from scan.extensions.simulation.request import calls_of, overrides_of
from scan.hex import to_hex
from scan.http import requests

MAX_RESPONSE_BYTES = 2 * 1024 * 1024

blueprint = Blueprint("simulation", __name__)


@blueprint.post("/simulate")
@requests.requires(requests.Prerequisite.NODE)
def simulate_calls() -> requests.Response:
    sent = requests.query_arguments("block")
    body = requests.json_object()
    json_bodies.only_known(body, ("calls", "overrides", "trace"), "field")
    if not isinstance(trace := body.get("trace", False), bool):
        raise InvalidParameter("trace must be true or false.", field="trace")
    is_anonymous = requests.api_key() is None
    calls = calls_of(body, anonymous_gas(requests.reader()) if is_anonymous else GAS)
    block, simulated = simulate(
        requests.reader(), requests.block_argument(sent), calls, overrides_of(body)
    )
    head = {"blockNumber": block.number, "blockHash": to_hex(block.hash)}
    for has_frames in (True, False) if trace else (False,):
        calls_inside = {"has_frames": has_frames, "is_cut": trace and not has_frames}
        records = [one.record(**calls_inside) for one in simulated]
        response = requests.json_value({**head, "calls": records})
        if len(response.body) <= MAX_RESPONSE_BYTES:
            return response
    raise TracesUnavailable(TOO_LARGE)


HOOKS = Api(blueprints=(blueprint,))
