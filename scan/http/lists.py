"""What all lists have in common: which part of one a request asks for, and the body of a page."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import orjson
from flask import Response, request

from scan import parameters
from scan.errors import InvalidParameter
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.http.services import services
from scan.parameters import BIGINT_MAX
from scan.queries import entities
from scan.queries.entities import FILTER_KEYS, RANGE
from scan.queries.pages import Page, Window

PAGED = ("page", "limit", "cursor")
ORDERED = (*PAGED, *RANGE, "orderBy")
NAMES = {
    "transactions": "transactions",
    "token_transfers": "transfers",
    "dex_trades": "trades",
    "internal_transfers": "internalTransfers",
}


def entity_list(entity: str, **fixed: str) -> Response:
    """A list that can be filtered by all keys of its entity but those that its path fixes."""
    keys = [key for key in FILTER_KEYS[entity] if key not in fixed]
    arguments = query_arguments(*keys, *ORDERED)
    page = entities.page(reader(), entity, window_of(arguments), {**arguments, **fixed})
    return list_body(NAMES[entity], page)


def window_of(arguments: Mapping[str, str], direction: str = "desc") -> Window:
    """Of a list's query string: PAGED, or ORDERED where the list has it."""
    if "orderBy" in arguments:
        direction = parameters.one_of(arguments["orderBy"], "orderBy", ("asc", "desc"))
    cursor = arguments.get("cursor")
    number = parameters.integer_text(arguments, "page", default=1, least=1)
    limit = parameters.integer_text(
        arguments, "limit", default=parameters.DEFAULT_LIMIT, least=1, most=parameters.MAX_LIMIT
    )
    if cursor is not None and number != 1:
        raise InvalidParameter("cursor and page exclude each other.", field="cursor")
    return Window(
        limit,
        min((number - 1) * limit, BIGINT_MAX),
        direction,
        parameters.integer_text(arguments, "blockFrom", default=0, least=0),
        parameters.integer_text(arguments, "blockTo", default=BIGINT_MAX, least=0),
        cursor,
        **times_of(arguments),
    )


def times_of(values: Mapping[str, Any]) -> dict[str, int]:
    """Of a query string or a filter: those of a Window that are given."""
    times = {}
    if "timeFrom" in values:
        times["time_from"] = parameters.time_s(values["timeFrom"], "timeFrom")
    if "timeTo" in values:
        times["time_to"] = parameters.time_s(values["timeTo"], "timeTo", is_upper=True)
    return times


def list_body(name: str, page: Page, **more: object) -> Response:
    """{name: [...], total, more, next}; the next page is in the header Link, too."""
    if page.untraced_blocks is not None:
        more["untracedBlocks"] = page.untraced_blocks
    added = "".join(f',"{key}":{orjson.dumps(value).decode()}' for key, value in more.items())
    total = "null" if page.total is None else page.total
    response = json_body(
        f'{{"{name}":{page.data},"total":{total}{added},"next":{json_text(page.next)}}}'
    )
    if page.next is not None:
        response.headers["Link"] = f'<{_next_path(page.next)}>; rel="next"'
    return response


def json_text(text: str | None) -> str:
    return orjson.dumps(text).decode()


def _next_path(cursor: str) -> str:
    """The request's own path, with the cursor in the place of the page's number."""
    arguments = parse_qsl(request.environ["QUERY_STRING"], keep_blank_values=True)
    kept = {
        name: text
        for name, text in arguments
        if name not in ("page", "cursor") and not name.startswith("_")
    }
    path = quote(f"{services().settings.base_path}{request.path}")
    return f"{path}?{urlencode({**kept, 'cursor': cursor})}"
