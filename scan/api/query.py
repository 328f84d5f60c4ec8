"""POST /api/v1/query: five entities, their filters, either order, any offset (SPEC 4.13)."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from scan import parameters
from scan.api import lists
from scan.api.lists import Records, Window
from scan.database.connection import Database
from scan.errors import InvalidParameter
from scan.http.requests import json_object
from scan.http.responses import chain_body
from scan.http.services import services

blueprint = Blueprint("query", __name__)

BODY_KEYS = ("entity", "filter", "orderBy", "limit", "offset")
FILTER_KEYS = {
    "transactions": ("address", "from", "to", "blockNumber", "blockFrom", "blockTo"),
    "blocks": ("blockFrom", "blockTo"),
    "tokens": (),
    "token_transfers": ("address", "from", "to", "tokenAddress", "blockFrom", "blockTo"),
    "dex_trades": ("address", "dex", "blockFrom", "blockTo"),
}
MAX_DEX_NAME = 100


@blueprint.post("/query")
def query() -> Response:
    body = json_object()
    parameters.only_known(body, BODY_KEYS, "key")
    entity = parameters.one_of(body.get("entity"), "entity", FILTER_KEYS)
    filters = _filters(body, entity)
    window = _window(body, filters)
    found = _find(services().reads, entity, filters, window)
    return chain_body(f'{{"entity":"{entity}","count":{found.count},"data":{found.data}}}')


def _filters(body: Mapping[str, Any], entity: str) -> dict[str, Any]:
    filters = body.get("filter", {})
    if not isinstance(filters, dict):
        raise InvalidParameter("filter must be an object.", field="filter")
    parameters.only_known(filters, FILTER_KEYS[entity], f"filter key of {entity}:")
    return filters


def _window(body: Mapping[str, Any], filters: Mapping[str, Any]) -> Window:
    limit = parameters.integer(
        body, "limit", default=parameters.DEFAULT_LIMIT, least=1, most=parameters.MAX_LIMIT
    )
    offset = parameters.integer(body, "offset", default=0, least=0)
    direction = parameters.one_of(body.get("orderBy", "desc"), "orderBy", ("asc", "desc"))
    block_from = parameters.integer(filters, "blockFrom", default=0, least=0)
    block_to = parameters.integer(filters, "blockTo", default=parameters.BIGINT_MAX, least=0)
    if "blockNumber" in filters:
        number = parameters.integer(filters, "blockNumber", default=0, least=0)
        block_from, block_to = max(block_from, number), min(block_to, number)
    return Window(limit, offset, direction, block_from, block_to)


def _find(reads: Database, entity: str, filters: Mapping[str, Any], window: Window) -> Records:
    if entity == "blocks":
        return lists.blocks(reads, window)
    if entity == "tokens":
        return lists.tokens(reads, window)
    address = parameters.optional_address(filters, "address")
    if entity == "dex_trades":
        return lists.dex_trades(reads, window, maker=address, dex=_dex(filters))
    sender = parameters.optional_address(filters, "from")
    recipient = parameters.optional_address(filters, "to")
    if entity == "transactions":
        return lists.transactions(
            reads, window, address=address, sender=sender, recipient=recipient
        )
    token = parameters.optional_address(filters, "tokenAddress")
    return lists.token_transfers(
        reads, window, address=address, sender=sender, recipient=recipient, token=token
    )


def _dex(filters: Mapping[str, Any]) -> str | None:
    if "dex" not in filters:
        return None
    return parameters.text(filters["dex"], "dex", most=MAX_DEX_NAME)
