"""Forms in bodies, urlencoded or multipart, whose parsing is bounded."""

import re
from binascii import a2b_qp

from flask import request
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from scan.errors import InvalidParameter
from scan.http.requests import client_address, reader, whole_body
from scan.http.services import services
from scan.rate_limits.concurrency import ConcurrencyLimit
from scan.server.connection import MAX_BODY_BYTES

MAX_FIELDS = 200
LARGE_BYTES = 256 * 1024  # parsed, a form takes ten times as much; large ones go one by one
WAIT_S = 1.0
MAX_PART_HEAD_BYTES = 4096  # of a multipart form: 5 MB of it take 3 s

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_MALFORMED_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class LargeForms(ConcurrencyLimit):
    """The limit of large forms that are parsed at the same time."""

    def __init__(self) -> None:
        super().__init__(1, busy="Too many large forms are being processed; try again shortly.")


def form(max_fields: int = MAX_FIELDS) -> MultiDict[str, str]:
    """Return the fields of an urlencoded or multipart form; uploads are in request.files
    afterwards.

    Raises InvalidParameter for one that ended early, is malformed or has too many fields,
    Unavailable where too many large ones are being read.
    """
    request.max_content_length = request.max_form_memory_size = MAX_BODY_BYTES
    request.max_form_parts = max_fields
    body = whole_body(InvalidParameter)
    separator = b"&" if request.mimetype == URLENCODED else _boundary()
    # Between fields, or before each of them and at the end.
    max_separators = max_fields + (-1 if separator == b"&" else 1)
    if separator and body.count(separator) > max_separators:
        raise InvalidParameter(f"A form must have at most {max_fields} fields.")
    if len(body) <= LARGE_BYTES:
        return request.form
    client = client_address()
    with (
        services().waiting_threads.place_in_turn(client),
        reader().sources.get(LargeForms).place(client, wait_s=WAIT_S),
    ):
        if request.mimetype == URLENCODED:
            request.form, request.files = _large_urlencoded(body), ImmutableMultiDict()
        elif separator and any(
            b"\r\n\r\n" not in part[:MAX_PART_HEAD_BYTES] for part in body.split(separator)[1:-1]
        ):
            raise InvalidParameter("The form is malformed.")
        return request.form


def _boundary() -> bytes:
    """Return the separator before each field of a multipart form; empty for other bodies."""
    name = request.mimetype_params.get("boundary", "")
    return f"--{name}".encode() if name and request.mimetype == MULTIPART else b""


def _large_urlencoded(body: bytes) -> ImmutableMultiDict[str, str]:
    """Parse a large form, 5 MB in 50 ms. Python's own parser takes up to 3.4 s, and holds the
    interpreter for 1 s."""
    if _MALFORMED_ESCAPE.search(body):
        raise InvalidParameter("The form is malformed: % is not followed by two hex digits.")
    # Quoted-printable is the same encoding with another mark, and is decoded in C.
    body = body.replace(b"+", b" ").replace(b"\n", b"%0A")
    fields = [field.partition(b"=") for field in body.split(b"&")]
    return ImmutableMultiDict((_unquoted(name), _unquoted(value)) for name, _, value in fields)


def _unquoted(escaped: bytes) -> str:
    quoted_printable = escaped.replace(b"=", b"%3D").replace(b"%", b"=")
    return a2b_qp(quoted_printable).decode("utf-8", "replace")
