"""A followed contract's events, and the logs of one of them with their arguments."""

import re
from collections.abc import Mapping
from functools import partial

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.events import event_filters, event_lists
from scan.extensions.events.event_lists import CHILDREN, STANDARD
from scan.extensions.events.event_tables import columns_of
from scan.hex import to_hex
from scan.http.current_request import every_argument, query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.list_responses import list_response

blueprint = Blueprint("events", __name__)


@blueprint.get("/contracts/<address>/events")
def list_contract_events(address: str) -> Response:
    arguments = query_arguments(CHILDREN)
    contract = parameters.address(address)
    followed_as = _followed_as(contract, arguments)
    events = event_lists.listed(reader(), followed_as)
    return json_value(
        {
            "address": to_hex(contract),
            "name": events.name,
            "completeFrom": events.complete_from,
            "problem": events.problem,
            "leftOut": events.left_out,
            "factory": events.factory,
            "children": events.children,
            "events": [
                event_lists.event_record(followed_as, events.name, event, events.counts)
                for event in events.tables
            ],
        }
    )


@blueprint.get("/contracts/<address>/events/<event>")
def list_event_logs(address: str, event: str) -> Response:
    contract = parameters.address(address)
    arguments = every_argument()
    followed = event_lists.find(reader(), _followed_as(contract, arguments), event)
    spellings = followed.spellings
    given = event_filters.given(spellings, STANDARD, arguments)
    filters = event_filters.read(followed.table, spellings, given)
    return list_response(
        "events",
        arguments,
        partial(event_lists.page, reader(), event=followed, filters=filters),
        kind=followed.table.view,
        address=contract,
        read_for_file=partial(event_lists.rows_page, reader(), event=followed, filters=filters),
        columns=columns_of(followed.table),
    )


def _followed_as(contract: bytes, arguments: Mapping[str, str]) -> bytes:
    """Return a contract, or what stands for its children where these are asked for."""
    name = arguments.get(CHILDREN)
    return contract if name is None else event_lists.children_of(reader(), contract, name)


HOOKS = Api(
    blueprints=(blueprint,),
    paths_with_other_names=(re.compile(r"/api/v1/contracts/[^/]+/events/"),),
)
