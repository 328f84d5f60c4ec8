"""A list as a file in a response, with bounds on files of one client and of all."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack

import flask
from flask import request

from scan.extensions.exports.file_places import FilePlaces
from scan.extensions.exports.list_file import ListFile, ListSource, write_list
from scan.hex import to_hex
from scan.http import own_machine
from scan.http.hooks import ListFiles
from scan.http.list_format import TYPES, Format
from scan.http.list_responses import next_link
from scan.http.requests import client_address, is_own_machine, reader
from scan.http.services import services
from scan.queries import network
from scan.queries.pages import Page, Window
from scan.rate_limits.concurrency import PLACE_WAIT_S
from scan.server.file_body import FileBody

FOLDER = "files"  # in SCAN_DATA_DIR


def send(
    kind: str,
    read: Callable[[Window], Page],
    chosen: Format,
    window: Window,
    arguments: Mapping[str, str],
    own: bytes | None,
) -> flask.Response:
    """Return a list as a file: `kind` is its key in [csv], `own` the address in its path."""
    own_address = None if own is None else to_hex(own)
    coin = network.coin_symbol(reader())
    chain_id = reader().sources.chain_id.read()
    source = ListSource(kind, read, own_address, coin, chain_id)
    reader().do_not_cache()
    places, client = reader().sources.get(FilePlaces), client_address()
    folder = services().settings.data_dir / FOLDER
    with ExitStack() as until_sent:
        until_sent.enter_context(places.open.place(client, wait_s=PLACE_WAIT_S))
        with places.writing(client):
            charged = services().limiter.charge_file(client)
            if not charged.allowed:
                refusal = charged.refusal("files")
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
) -> flask.Response:
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
    if written.last.complete_from is not None:
        headers["X-Scan-Complete-From"] = str(written.last.complete_from)
    headers |= written.last.file_headers
    content_type = TYPES[chosen]
    if chosen is Format.CSV:
        content_type = f"{content_type}; charset=utf-8; header=present"
    if request.method == "HEAD":
        body.close()
        return flask.Response(headers=headers, content_type=content_type)
    return flask.Response(body, headers=headers, content_type=content_type, direct_passthrough=True)


HOOKS = ListFiles(send=send)
