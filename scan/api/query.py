"""POST /api/v1/query: entities, filtered, in either order, from any offset."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from scan import json_bodies, parameters
from scan.cached_values import LazyMapping
from scan.database.lists import all_entities
from scan.http import request_bodies
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_body
from scan.http.list_responses import facts_of, time_of
from scan.queries import cursors, entities
from scan.queries.filter_values import FILTER_KEYS as KEYS_BY_ENTITY
from scan.queries.filter_values import QUERIED
from scan.queries.filtered_pages import MAX_ENTRIES
from scan.queries.list_pages import Window

blueprint = Blueprint("query", __name__)

BODY_KEYS = ("entity", "filter", "orderBy", "limit", "offset", "cursor")
FILTER_KEYS: Mapping[str, tuple[str, ...]] = LazyMapping(
    lambda: {
        **{entity: (*KEYS_BY_ENTITY[entity], *entities.RANGE) for entity in QUERIED},
        "transactions": (*KEYS_BY_ENTITY["transactions"], *entities.RANGE, "blockNumber"),
        "tokens": (),
        **{entity: (*own.keys, *entities.RANGE) for entity, own in entities.OWN_FILTERS.items()},
    }
)


@blueprint.post("/query")
def query() -> Response:
    """Return a page of an entity; `total` is null for several keys, whose rows no counter has."""
    query_arguments()
    body, faults = request_bodies.json_object(), parameters.Faults()
    faults.read(json_bodies.only_known, body, BODY_KEYS, "key")
    entity = faults.read(parameters.required_one_of, body, "entity", FILTER_KEYS)
    filters: Any = body.get("filter", {})
    if not isinstance(filters, dict):
        faults.read(parameters.require, False, "filter", "filter must be an object.")
        filters = {}
    if entity is not None:
        keys = FILTER_KEYS[entity]
        faults.read(json_bodies.only_known, filters, keys, f"filter key of {entity}:")
        values = faults.read(entities.read_filters, reader(), entity, filters)
    integer, most = parameters.integer, parameters.MAX_LIMIT
    default = parameters.DEFAULT_LIMIT
    limit = faults.read(integer, body, "limit", default=default, least=1, most=most)
    offset = faults.read(integer, body, "offset", default=0, least=0)
    order = body.get("orderBy", "desc")
    direction = faults.read(parameters.one_of, order, "orderBy", ("asc", "desc"))
    block_from = faults.read(integer, filters, "blockFrom", default=0, least=0)
    last = parameters.BIGINT_MAX
    block_to = faults.read(integer, filters, "blockTo", default=last, least=0)
    number = faults.read(integer, filters, "blockNumber", default=0, least=0)
    cursor = None
    if "cursor" in body:
        cursor = faults.read(parameters.text, body["cursor"], "cursor", most=cursors.MAX_CURSOR)
        reason = "cursor and offset exclude each other."
        faults.read(parameters.require, not offset, "cursor", reason)
    times = faults.read(time_of, filters, "timeFrom"), faults.read(time_of, filters, "timeTo")
    faults.raise_found()
    if "blockNumber" in filters:
        block_from, block_to = max(block_from, number), min(block_to, number)
    window = Window(
        limit, offset, direction, block_from, block_to, cursor, *times, None, MAX_ENTRIES
    )
    page = entities.PAGES[entity](reader(), entity, values, window)
    begin = f'{{"entity":"{entity}","count":{page.count},"data":{page.data}'
    known = all_entities().get(entity)  # blocks and tokens are lists of their own
    list_name = entity if known is None else known.json_name
    reported = [name.replace(list_name, "data", 1) for name in reader().reported]
    return json_body(begin.encode() + facts_of(page, reported))
