"""The window of a list that a request asks for, and the body of a page, alike for all lists."""

from collections.abc import Mapping
from typing import Any, TypedDict
from urllib.parse import quote, quote_plus

import orjson
from flask import request

from scan import parameters
from scan.errors import InvalidParameter
from scan.http.responses import Response, json_body
from scan.parameters import BIGINT_MAX
from scan.queries.pages import MAX_ENTRIES, Page, Window
from scan.queries.reader import KeptFrom

PAGED = ("page", "limit", "cursor")


class Times(TypedDict, total=False):
    """The times of a Window."""

    time_from: int
    time_to: int


def window_of(arguments: Mapping[str, str], direction: str = "desc") -> Window:
    """Return a list's window by the parameters PAGED, RANGE and orderBy; may raise
    InvalidParameter."""
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
        max_entries=MAX_ENTRIES,
    )


def times_of(values: Mapping[str, Any]) -> Times:
    """Return the times of a Window, by `timeFrom` and `timeTo` of a query string or a filter."""
    times: Times = {}
    if "timeFrom" in values:
        times["time_from"] = parameters.time_s(values["timeFrom"], "timeFrom")
    if "timeTo" in values:
        times["time_to"] = parameters.time_s(values["timeTo"], "timeTo", is_upper=True)
    return times


def list_body(name: str, page: Page, arguments: Mapping[str, str], **more: object) -> Response:
    """Return {name: [...], total, more, next}; the header Link leads to the next page, too.

    `arguments` are the request's.
    """
    if page.untraced_blocks is not None:
        more["untracedBlocks"] = page.untraced_blocks
    added = "".join(f',"{key}":{orjson.dumps(value).decode()}' for key, value in more.items())
    if page.kept_from is not None:
        added += f',"keptFrom":{kept_text(page.kept_from)}'
    if page.complete_from is not None:
        added += f',"completeFrom":{page.complete_from}'
    total = "null" if page.total is None else page.total
    response = json_body(
        f'{{"{name}":{page.data},"total":{total}{added},"next":{json_text(page.next)}}}'
    )
    if page.next is not None:
        response.headers["Link"] = next_link(page.next, arguments)
    return response


def kept_text(kept_from: KeptFrom) -> str:
    """Return as JSON the oldest block of a list whose older rows were removed."""
    return f'{{"blockNumber":{kept_from.number},"timestamp":"{kept_from.timestamp}"}}'


def json_text(text: str | None) -> str:
    return orjson.dumps(text).decode()


def next_link(cursor: str, arguments: Mapping[str, str]) -> str:
    """Return the header Link: the request's URL with `cursor` instead of `page`."""
    kept = "".join(
        f"{name}={text if text.isascii() and text.isalnum() else quote_plus(text)}&"
        for name, text in arguments.items()
        if name and name not in ("page", "cursor")
    )
    path = quote(request.path)
    return f'<{path}?{kept}cursor={cursor}>; rel="next"'
