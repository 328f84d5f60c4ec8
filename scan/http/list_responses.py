"""A list as one page of JSON, or whole as a file, as the client asks for it."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack

import flask
from flask import request

from scan import parameters
from scan.database.lists import all_entities
from scan.errors import InvalidParameter
from scan.exports.list_file import Format, ListFile, ListSource, write_list
from scan.hex import to_hex
from scan.http import own_machine
from scan.http.list_format import PARAMETER, TYPES, file_format
from scan.http.list_pages import PAGED, list_body, next_link, window_of
from scan.http.requests import client_address, is_own_machine, query_arguments, reader
from scan.http.responses import Response
from scan.http.services import services
from scan.queries import entities, network
from scan.queries.entities import RANGE
from scan.queries.filters import FILTER_KEYS
from scan.queries.history import HistoryPage
from scan.queries.pages import Page, Window
from scan.rate_limits.responses import rate_limited
from scan.server.file_body import FileBody

FOLDER = "files"  # in SCAN_DATA_DIR
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

    `name` is the list's key in JSON, `kind` that in csv_columns.py where it is another; `own` is
    the address in its path. `read_for_file` reads a file's rows where `read` cannot.
    """
    chosen = file_format(arguments, request.environ.get("HTTP_ACCEPT", ""))
    if chosen is None:
        return body(name, read(window_of(arguments, direction)), arguments)
    for paged in ("page", "limit"):
        if paged in arguments:
            raise InvalidParameter(f"A file is the whole list; leave out {paged}.", field=paged)
    own_address = None if own is None else to_hex(own)
    coin = network.coin_symbol(reader())
    chain_id = reader().sources.chain_id.read()
    source = ListSource(kind or name, read_for_file or read, own_address, coin, chain_id)
    return _send_file(source, chosen, arguments, direction)


def _send_file(
    source: ListSource, chosen: Format, arguments: Mapping[str, str], direction: str
) -> Response:
    window = window_of(arguments, direction)
    reader().do_not_cache()
    places, client = services().file_places, client_address()
    folder = services().settings.data_dir / FOLDER
    with ExitStack() as until_sent:
        until_sent.enter_context(places.open.place(client))
        with places.writing(client):
            charged = services().limiter.charge_file(client)
            if not charged.allowed:
                refusal = rate_limited(charged, "files")
                if is_own_machine():
                    own_machine.advise(refusal, own_machine.RAISE_FILES)
                raise refusal
            written = write_list(reader(), source, chosen, window, folder)
        body = FileBody(written.file, until_sent.pop_all().close)
    return _response(chosen, written, body, arguments)


def _response(
    chosen: Format,
    written: ListFile,
    body: FileBody,
    arguments: Mapping[str, str],
) -> Response:
    headers = {
        "Content-Length": str(body.size),
        "Content-Disposition": f'attachment; filename="{written.name}"',
        "Cache-Control": "no-store",
        "Vary": "Accept",
        "X-Content-Type-Options": "nosniff",
        "X-Scan-Complete": "true" if written.last.next is None else "false",
    }
    if written.last.next is not None:
        headers["Link"] = next_link(written.last.next, arguments)
    if written.last.untraced_blocks is not None:
        headers["X-Scan-Untraced-Blocks"] = str(written.last.untraced_blocks)
    if written.last.kept_from is not None:
        headers["X-Scan-Kept-From"] = str(written.last.kept_from.number)
    if isinstance(written.last, HistoryPage):
        headers["X-Scan-History-Complete"] = "false" if written.last.reason else "true"
    content_type = TYPES[chosen]
    if chosen is Format.CSV:
        content_type = f"{content_type}; charset=utf-8; header=present"
    if request.method == "HEAD":
        body.close()
        return flask.Response(headers=headers, content_type=content_type)
    return flask.Response(body, headers=headers, content_type=content_type, direct_passthrough=True)
