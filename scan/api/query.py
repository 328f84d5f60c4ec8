"""POST /api/v1/query: seven entities, their filters, either order, any offset (SPEC 4.13)."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from scan import parameters
from scan.errors import InvalidParameter
from scan.http.requests import json_object, reader
from scan.http.responses import json_body
from scan.queries import (
    blocks,
    dex_trades,
    internal_transfers,
    logs,
    token_transfers,
    tokens,
    transactions,
)
from scan.queries.logs import TOPIC_NAMES
from scan.queries.pages import Page, Window

blueprint = Blueprint("query", __name__)

BODY_KEYS = ("entity", "filter", "orderBy", "limit", "offset")
FILTER_KEYS = {
    "transactions": ("address", "from", "to", "blockNumber", "blockFrom", "blockTo"),
    "blocks": ("blockFrom", "blockTo"),
    "tokens": (),
    "token_transfers": ("address", "from", "to", "tokenAddress", "blockFrom", "blockTo"),
    "dex_trades": ("address", "dex", "blockFrom", "blockTo"),
    "internal_transfers": ("address", "from", "to", "blockFrom", "blockTo"),
    "logs": ("address", *TOPIC_NAMES, "blockFrom", "blockTo"),
}
MAX_DEX_NAME = 100


@blueprint.post("/query")
def query() -> Response:
    body = json_object()
    parameters.only_known(body, BODY_KEYS, "key")
    entity = parameters.required_one_of(body, "entity", FILTER_KEYS)
    filters = _filters(body, entity)
    page = _find(entity, filters, _window(body, filters))
    more = ""
    if entity == "internal_transfers":
        more = f',"untracedBlocks":{page.untraced_blocks}'
    return json_body(f'{{"entity":"{entity}","count":{page.count},"data":{page.data}{more}}}')


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


def _find(entity: str, filters: Mapping[str, Any], window: Window) -> Page:
    if entity == "blocks":
        return blocks.page(reader(), window)
    if entity == "tokens":
        return tokens.page(reader(), window)
    if entity == "logs":
        return logs.page(reader(), window, logs.read_filter(filters))
    address = parameters.optional_address(filters, "address")
    if entity == "dex_trades":
        return dex_trades.page(reader(), window, maker=address, dex=_dex(filters))
    sender = parameters.optional_address(filters, "from")
    recipient = parameters.optional_address(filters, "to")
    if entity == "transactions":
        return transactions.page(
            reader(), window, address=address, sender=sender, recipient=recipient
        )
    if entity == "internal_transfers":
        return internal_transfers.page(
            reader(), window, address=address, sender=sender, recipient=recipient
        )
    token = parameters.optional_address(filters, "tokenAddress")
    return token_transfers.page(
        reader(), window, address=address, sender=sender, recipient=recipient, token=token
    )


def _dex(filters: Mapping[str, Any]) -> str | None:
    if "dex" not in filters:
        return None
    return parameters.text(filters["dex"], "dex", most=MAX_DEX_NAME)
