"""POST /api/v1/simulate; and the page /simulate: a form of one call, and what it would do. Its link
can be shared."""

import re
from collections.abc import Mapping

from flask import Blueprint, Response, request

from scan import json_bodies
from scan.api.hooks import Api
from scan.contracts.read_calls import GAS
from scan.errors import InvalidParameter, ScanError, TracesUnavailable
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.explanations.transactions import views as explanations
from scan.extensions.simulation.outcomes import addresses_in, anonymous_gas, simulate
from scan.extensions.simulation.request import SimulatedCall, call_of, calls_of, overrides_of
from scan.extensions.traces.transaction_traces import TOO_LARGE
from scan.hex import to_hex
from scan.http import json_responses, request_bodies
from scan.http.current_request import api_key, block_argument, query_arguments, reader
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import hooks, records
from scan.pages.site import page

FIELDS = ("from", "to", "value", "data", "gas", "block")
_COINS = re.compile(rf"([0-9]{{1,60}})(?:\.([0-9]{{1,{COIN_DECIMALS}}}))?\Z", re.ASCII)

MAX_RESPONSE_BYTES = 2 * 1024 * 1024


class SimulationBounds:
    """The bound of one response."""

    response_bytes = MAX_RESPONSE_BYTES


api_views = Blueprint("simulation", __name__)
page_views = Blueprint("pages_simulation", __name__)


@api_views.post("/simulate")
@requires(Prerequisite.NODE)
def simulate_calls() -> json_responses.Response:
    sent = query_arguments("block")
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("calls", "overrides", "trace"), "field")
    if not isinstance(trace := body.get("trace", False), bool):
        raise InvalidParameter("trace must be true or false.", field="trace")
    is_anonymous = api_key() is None
    calls = calls_of(body, anonymous_gas(reader()) if is_anonymous else GAS)
    block, simulated = simulate(reader(), block_argument(sent), calls, overrides_of(body))
    head = {"blockNumber": block.number, "blockHash": to_hex(block.hash), "unproven": ["calls"]}
    for has_frames in (True, False) if trace else (False,):
        calls_inside = {"has_frames": has_frames, "is_cut": trace and not has_frames}
        records = [one.record(**calls_inside) for one in simulated]
        response = json_responses.json_value({**head, "calls": records})
        if len(response.body) <= reader().sources.get(SimulationBounds).response_bytes:
            return response
    raise TracesUnavailable(TOO_LARGE)


@page_views.get("/simulate")
@requires(lambda query: Prerequisite.NODE if query else None)
def show_simulation() -> Response:
    typed = {name: request.args.get(name, "").strip() for name in FIELDS}
    fields = {name: text for name, text in typed.items() if text}
    block, simulated, error, status = None, None, None, 200
    try:
        if fields:
            block_id = block_argument({"block": fields.get("block", "latest")})
            block, [simulated] = simulate(reader(), block_id, [_call(fields)], {})
    except ScanError as refused:
        reader().do_not_cache()
        error, status = refused.message.removeprefix("call."), refused.status
    calls = accounts = explanations.ShownTraces()
    if simulated is not None:
        calls = explanations.shown_calls(simulated.outcome.trace, simulated.frames)
        if simulated.outcome.changes is not None:
            accounts = explanations.shown_accounts(simulated.outcome.changes)
    return page(
        "simulate.html",
        status,
        fields=fields,
        block=block,
        simulated=simulated,
        record=None if simulated is None else simulated.record(),
        calls=calls,
        accounts=accounts,
        most_slots=explanations.MAX_SLOTS,
        is_open=False,
        error=error,
        names=records.names_of((), *([] if simulated is None else [*addresses_in([simulated])])),
    )


def _call(fields: Mapping[str, str]) -> SimulatedCall:
    """Return the call of a form, in which the value is in coins."""
    of_call = {name: fields[name] for name in ("from", "to", "data", "gas") if name in fields}
    sent = {**of_call, "value": _wei(fields.get("value", "0"))}
    return call_of(sent, "call", anonymous_gas(reader()))


def _wei(text: str) -> int:
    coins = _COINS.match(text)
    if coins is None:
        message = f"value must be a number of coins with at most {COIN_DECIMALS} decimals."
        raise InvalidParameter(message, field="value")
    return int(coins[1] + (coins[2] or "").ljust(COIN_DECIMALS, "0"))


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(blueprints=(page_views,), menu=(("Contracts", "/simulate", "Simulate a call"),)),
)
