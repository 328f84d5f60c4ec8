"""Responses of lists: one page of JSON, by the query string, or the whole as a file."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache, partial
from typing import Any
from urllib.parse import quote, quote_plus

import orjson
from flask import Blueprint

from scan import parameters, registry
from scan.database.lists import all_entities
from scan.http import hooks, list_formats, request_state
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import JsonResponse, Response
from scan.http.list_formats import Format
from scan.parameters import BIGINT_MAX
from scan.queries import entities
from scan.queries.filter_values import FILTER_KEYS
from scan.queries.filtered_pages import MAX_ENTRIES
from scan.queries.list_pages import Page, Window

PAGED = ("page", "limit", "cursor")
# Parameters of a list, and of one that is ordered along the chain.
LISTED = (*PAGED, list_formats.PARAMETER)
ORDERED = (*LISTED, *entities.RANGE, "orderBy")
ReadPage = Callable[[Window], Page]
LONGEST_LINKED = 600  # of a longer query one page is linked: proxies refuse heads of over 4 kB


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
    is_right = cursor is None or number == 1
    parameters.require(is_right, "cursor", "cursor and page exclude each other.")
    offset = min((number - 1) * limit, BIGINT_MAX)
    window = Window(limit, offset, direction, cursor=cursor, max_entries=MAX_ENTRIES)
    if arguments.keys().isdisjoint(entities.RANGE):
        return window
    return window._replace(
        block_from=parameters.integer_text(arguments, "blockFrom", default=0, least=0),
        block_to=parameters.integer_text(arguments, "blockTo", default=BIGINT_MAX, least=0),
        time_from=time_of(arguments, "timeFrom"),
        time_to=time_of(arguments, "timeTo"),
    )


def time_of(values: Mapping[str, Any], name: str) -> int | None:
    """Return a time of a Window, `timeFrom` or `timeTo` of a query string or a filter, if it is
    there."""
    if name not in values:
        return None
    return parameters.time_s(values[name], name, is_upper=name == "timeTo")


def list_body(name: str, page: Page, arguments: Mapping[str, str]) -> Response:
    """Return {name: [...], total, more, next}; the header Link leads to other pages, too.

    `arguments` are the request's.
    """
    body = f'{{"{name}":'.encode(), page.data.encode(), facts_of(page, reader().reported)
    response = JsonResponse(b"".join(body))
    query, number = _begun_query(arguments), int(arguments.get("page", 1))
    limit = int(arguments.get("limit", parameters.DEFAULT_LIMIT))
    last = number if page.total is None else max(1, -(-page.total // limit))
    link = f'<{query.rstrip("?&")}>; rel="first"'
    if number > 1:
        link += f', <{query}page={min(number - 1, last)}>; rel="prev"'
    following = f'<{query}cursor={page.next}>; rel="next"' if page.next else ""
    link += following and f", {following}"
    if page.total is not None and "page" in request_state.current_request().known_arguments:
        link += f', <{query}page={last}>; rel="last"'
    if len(query) > LONGEST_LINKED:
        link = following or link.partition(",")[0]
    response.headers["Link"] = link
    return response


def facts_of(page: Page, reported: Iterable[str]) -> bytes:
    """Return what a page says beside its rows, as the end of a JSON object: total, more, next, and
    of its fields those that the node reports, if there are any."""
    more = {**page.more}
    if unproven := sorted(reported):
        more["unproven"] = unproven
    if page.untraced_blocks is not None:
        more["untracedBlocks"] = page.untraced_blocks
    if page.kept_from is not None:
        more["keptFrom"] = page.kept_from.record()
    if page.complete_from is not None:
        more["completeFrom"] = page.complete_from
    return b"," + orjson.dumps({"total": page.total, **more, "next": page.next})[1:]


def next_link(cursor: str, arguments: Mapping[str, str]) -> str:
    """Return the header Link: the request's URL with `cursor` instead of `page`."""
    return f'<{_begun_query(arguments)}cursor={cursor}>; rel="next"'


def _begun_query(arguments: Mapping[str, str]) -> str:
    """Return the request's path and query without a place in the list, which is to follow."""
    query = ""
    for name, text in arguments.items():
        if name and name not in ("page", "cursor"):
            quoted = text if text.isascii() and text.isalnum() else quote_plus(text)
            query += f"{name if name.isalnum() and name.isascii() else quote_plus(name)}={quoted}&"
    return f"{_quoted(request_state.current_request().path)}?{query}"


@lru_cache(maxsize=256)
def _quoted(path: str) -> str:
    return quote(path, encoding="latin-1")  # as WSGI has its bytes


def entity_list(entity: str, left_out: Collection[str] = (), **fixed: str) -> Response:
    """Return a list with all filters of its entity, except those `fixed` by its path and those
    `left_out`, which mean the same."""
    arguments = query_arguments(*_known(entity, (*fixed, *left_out)))
    of_request = reader()
    values = entities.read_filters(of_request, entity, {**arguments, **fixed})
    read = partial(entities.PAGES[entity], of_request, entity, values)
    address: Any = values.get("address")
    return list_response(all_entities()[entity].json_name, arguments, read, address=address)


def add_list(blueprint: Blueprint, path: str, entity: str, left_out: Collection[str] = ()) -> None:
    """Have a path answer with the list of an entity; an argument in the path is a filter of it."""
    blueprint.add_url_rule(path, path, partial(entity_list, entity, left_out))


@cache
def _known(entity: str, left_out: tuple[str, ...]) -> tuple[str, ...]:
    return (*(key for key in FILTER_KEYS[entity] if key not in left_out), *ORDERED)


def file_of(arguments: Mapping[str, str]) -> Format | None:
    """Return the format of the file that a request asks for; None for a page of JSON."""
    if list_formats.PARAMETER not in arguments:  # it takes precedence over Accept
        return request_state.current_request().accepted_file
    chosen = parameters.one_of(
        arguments[list_formats.PARAMETER], list_formats.PARAMETER, list_formats.FORMATS
    )
    return None if chosen == list_formats.JSON else Format(chosen)


def list_response(
    name: str,
    arguments: Mapping[str, str],
    read: ReadPage,
    *,
    direction: str = "desc",
    kind: str = "",
    address: bytes | None = None,
    read_for_file: ReadPage | None = None,
    columns: Collection[str] | None = None,
) -> Response:
    """Return a page of a list, or all of it as a file.

    `name` is the list's key in JSON, `kind` that of its file where it is another; `address` is
    that in its path. `read_for_file` reads a file's rows where `read` cannot; with `columns` its
    records are rows of these.
    """
    file = file_of(arguments)
    if file is None:
        return list_body(name, read(window_of(arguments, direction)), arguments)
    for paged in ("page", "limit"):
        reason = f"A file is the whole list; leave out {paged}."
        parameters.require(paged not in arguments, paged, reason)
    window = window_of(arguments, direction)
    [files] = registry.parts(hooks.ListFiles)
    return files.send(
        kind or name, read_for_file or read, file, window, arguments, address, columns
    )
