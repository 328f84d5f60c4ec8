"""POST /api/v1/query: five entities, their filters, either order, any offset (SPEC 4.13)."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from scan import params
from scan.api import chain_body, json_object, lists, services
from scan.api.lists import Records, Window
from scan.db import Database
from scan.errors import InvalidParameter

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
    params.only_known(body, BODY_KEYS, "key")
    entity = params.one_of(body.get("entity"), "entity", FILTER_KEYS)
    filters = _filters(body, entity)
    window = _window(body, filters)
    found = _find(services().reads, entity, filters, window)
    return chain_body(f'{{"entity":"{entity}","count":{found.count},"data":{found.data}}}')


def _filters(body: Mapping[str, Any], entity: str) -> dict[str, Any]:
    filters = body.get("filter", {})
    if not isinstance(filters, dict):
        raise InvalidParameter("filter must be an object.", field="filter")
    params.only_known(filters, FILTER_KEYS[entity], f"filter key of {entity}:")
    return filters


def _window(body: Mapping[str, Any], filters: Mapping[str, Any]) -> Window:
    limit = params.integer(
        body, "limit", default=params.DEFAULT_LIMIT, least=1, most=params.MAX_LIMIT
    )
    offset = params.integer(body, "offset", default=0, least=0)
    direction = params.one_of(body.get("orderBy", "desc"), "orderBy", ("asc", "desc"))
    block_from = params.integer(filters, "blockFrom", default=0, least=0)
    block_to = params.integer(filters, "blockTo", default=params.BIGINT_MAX, least=0)
    if "blockNumber" in filters:
        number = params.integer(filters, "blockNumber", default=0, least=0)
        block_from, block_to = max(block_from, number), min(block_to, number)
    return Window(limit, offset, direction, block_from, block_to)


def _find(reads: Database, entity: str, filters: Mapping[str, Any], window: Window) -> Records:
    if entity == "blocks":
        return lists.blocks(reads, window)
    if entity == "tokens":
        return lists.tokens(reads, window)
    address = params.optional_address(filters, "address")
    if entity == "dex_trades":
        return lists.dex_trades(reads, window, maker=address, dex=_dex(filters))
    sender = params.optional_address(filters, "from")
    recipient = params.optional_address(filters, "to")
    if entity == "transactions":
        return lists.transactions(
            reads, window, address=address, sender=sender, recipient=recipient
        )
    token = params.optional_address(filters, "tokenAddress")
    return lists.token_transfers(
        reads, window, address=address, sender=sender, recipient=recipient, token=token
    )


def _dex(filters: Mapping[str, Any]) -> str | None:
    if "dex" not in filters:
        return None
    return params.text(filters["dex"], "dex", most=MAX_DEX_NAME)
