"""A followed contract's events, and the logs of one of them with their arguments."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.errors import InvalidParameter
from scan.extensions.events import event_filters, event_lists
from scan.extensions.events.event_lists import ARGUMENTS, CHILDREN, STANDARD, FollowedEvent
from scan.extensions.events.event_tables import OF_LOG
from scan.hex import to_hex
from scan.http.current_request import every_argument, query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.list_responses import list_response
from scan.json_bodies import parse_json

blueprint = Blueprint("events", __name__)
MAX_ARGUMENTS_TEXT = 20_000  # characters


@blueprint.get("/contracts/<address>/events")
def list_contract_events(address: str) -> Response:
    name = query_arguments(CHILDREN).get(CHILDREN)
    contract = parameters.address(address)
    of_children = None if name is None else event_lists.children_of(reader(), contract, name)
    events = event_lists.listed(reader(), of_children or contract)
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
                event_lists.event_record(of_children or contract, events.name, event, events.counts)
                for event in events.tables
            ],
        }
    )


@blueprint.get("/contracts/<address>/events/<event>")
def list_event_logs(address: str, event: str) -> Response:
    contract = parameters.address(address)
    arguments = every_argument()
    name = arguments.get(CHILDREN)
    of_children = None if name is None else event_lists.children_of(reader(), contract, name)
    followed = event_lists.find(reader(), of_children or contract, event)
    filters = event_filters.read(followed.table, followed.spellings, _given(followed, arguments))
    columns = [*OF_LOG, *(name for name, _ in followed.table.view_columns)]
    return list_response(
        "events",
        arguments,
        partial(event_lists.page, reader(), event=followed, filters=filters),
        kind=followed.table.view,
        address=contract,
        read_for_file=partial(event_lists.rows_page, reader(), event=followed, filters=filters),
        columns=columns,
    )


def _given(event: FollowedEvent, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the event's arguments that are given, those in `args` among them.
    Raises InvalidParameter for unknown ones."""
    spellings = event.spellings
    given = {name: text for name, text in arguments.items() if name and name not in STANDARD}
    for name, value in _in_json(arguments.get(ARGUMENTS)).items():
        if name in given:
            raise InvalidParameter(f"{name[:50]} is given more than once.", field=name[:50])
        given[name] = value
    for name in given:
        if name not in spellings:
            raise event_filters.unknown(name, STANDARD, [*spellings])
    return given


def _in_json(text: str | None) -> dict[str, str]:
    """Return the parameters in a JSON object, whose values are texts, integers or flags."""
    if text is None:
        return {}
    refusal = InvalidParameter(
        f"{ARGUMENTS} must be a JSON object of filters, each a text, an integer or a flag.",
        field=ARGUMENTS,
    )
    if len(text) > MAX_ARGUMENTS_TEXT:
        raise refusal
    try:
        values: Any = parse_json(text)
    except (ValueError, RecursionError):
        raise refusal from None
    if not isinstance(values, dict):
        raise refusal
    given = {}
    for name, value in values.items():
        if not isinstance(value, str | int):
            raise refusal
        given[name] = value if isinstance(value, str) else orjson.dumps(value).decode()
    return given


HOOKS = Api(
    blueprints=(blueprint,),
    paths_with_other_names=(re.compile(r"/api/v1/contracts/[^/]+/events/"),),
)
