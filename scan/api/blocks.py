"""GET /api/v1/blocks, /blocks/latest, /blocks/:numberOrHash."""

from collections.abc import Mapping

import orjson
from flask import Blueprint

from scan import parameters
from scan.http.list_responses import LISTED, ORDERED, list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_body
from scan.queries import blocks, entities
from scan.queries.filters import FILTER_KEYS
from scan.queries.pages import Page, Window

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    arguments = query_arguments("time", *ORDERED)
    if "time" in arguments:
        return _block_at(arguments)
    return list_response("blocks", arguments, lambda window: blocks.page(reader(), window))


def _block_at(arguments: Mapping[str, str]) -> Response:
    """Return the newest block at or before `time`, the only parameter that it takes."""
    parameters.only_known_arguments(arguments, ("time",))
    record = blocks.at_time(reader(), parameters.time_s(arguments["time"], "time", is_upper=True))
    if record is None:
        raise reader().not_indexed("No block at or before this time is indexed.")
    return json_body(record)


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    query_arguments()
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    return json_body(_indexed(named))


@blueprint.get("/blocks/<block>/transactions")
def list_transactions_of_block(block: str) -> Response:
    """Return a block's transactions; not of `latest`, whose pages would be of different blocks."""
    keys = FILTER_KEYS["transactions"]
    arguments = query_arguments(*keys, *LISTED, "orderBy")
    number = orjson.loads(_indexed(parameters.block_number_or_hash(block)))["number"]

    def read(window: Window) -> Page:
        window = window._replace(block_from=number, block_to=number)
        return entities.page(reader(), "transactions", window, arguments)

    return list_response("transactions", arguments, read)


def _indexed(named: int | bytes | None) -> str:
    record = blocks.get(reader(), named)
    if record is None:
        raise blocks.not_indexed(reader(), named)
    return record
