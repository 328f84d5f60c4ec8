"""A list as one page of JSON, or whole as a file, as the client asks for it."""

from collections.abc import Callable, Collection, Mapping

from flask import request

from scan import parameters, registry
from scan.database.lists import all_entities
from scan.errors import InvalidParameter
from scan.hooks import ListFiles
from scan.http.list_format import PARAMETER, file_format
from scan.http.list_pages import PAGED, list_body, window_of
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response
from scan.queries import entities
from scan.queries.entities import RANGE
from scan.queries.filters import FILTER_KEYS
from scan.queries.pages import Page, Window

# Parameters of a list, and of one that is ordered along the chain.
LISTED = (*PAGED, PARAMETER)
ORDERED = (*LISTED, *RANGE, "orderBy")
ReadPage = Callable[[Window], Page]


def entity_list(entity: str, left_out: Collection[str] = (), **fixed: str) -> Response:
    """Return a list with all filters of its entity, except those `fixed` by its path and those
    `left_out`, which mean the same."""
    keys = [key for key in FILTER_KEYS[entity] if key not in fixed and key not in left_out]
    arguments = query_arguments(*keys, *ORDERED)
    filters = {**arguments, **fixed}
    return list_response(
        all_entities()[entity].json_name,
        arguments,
        lambda window: entities.page(reader(), entity, window, filters),
        own=parameters.optional_address(filters, "address"),
    )


def list_response(
    name: str,
    arguments: Mapping[str, str],
    read: ReadPage,
    *,
    direction: str = "desc",
    kind: str = "",
    own: bytes | None = None,
    read_for_file: ReadPage | None = None,
    body: Callable[[str, Page, Mapping[str, str]], Response] = list_body,
) -> Response:
    """Return a page of a list, or all of it as a file.

    `name` is the list's key in JSON, `kind` that of its file where it is another; `own` is the
    address in its path. `read_for_file` reads a file's rows where `read` cannot.
    """
    chosen = file_format(arguments, request.environ.get("HTTP_ACCEPT", ""))
    if chosen is None:
        return body(name, read(window_of(arguments, direction)), arguments)
    for paged in ("page", "limit"):
        if paged in arguments:
            raise InvalidParameter(f"A file is the whole list; leave out {paged}.", field=paged)
    [files] = registry.parts(ListFiles)
    window = window_of(arguments, direction)
    return files.send(kind or name, read_for_file or read, chosen, window, arguments, own)
