"""Bodies of requests: JSON, and forms, whose parsing is bounded."""

import re
from binascii import a2b_qp
from io import BytesIO

from flask import request
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from scan import json_bodies
from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.errors import InvalidJson, InvalidParameter, ScanError, TooLarge, UnsupportedMediaType
from scan.http import services
from scan.http.current_request import client_address, reader
from scan.server import connection

USUAL_BODY_BYTES = 1024 * 1024  # unless a view sets another bound
INCOMPLETE_BODY = "The body ended early, or its chunks are malformed."


def json_object() -> dict[str, object]:
    """Return the body as an object; raises UnsupportedMediaType where it is not declared JSON,
    InvalidJson and TooLarge."""
    if not request.is_json:
        raise UnsupportedMediaType("Send the body as JSON, with Content-Type: application/json.")
    return json_bodies.json_object(whole_body(InvalidJson, is_kept=False))


def whole_body(incomplete: type[ScanError], *, is_kept: bool = True) -> bytes:
    """Return the body, which Flask can still parse if it `is_kept`.

    Raises `incomplete` for one that ended early, TooLarge for one beyond max_content_length,
    UnsupportedMediaType for one that is compressed.
    """
    if request.headers.get("Content-Encoding", "").lower() not in ("", "identity"):
        raise UnsupportedMediaType("Send the body uncompressed, without Content-Encoding.")
    try:
        body = request.get_data(cache=is_kept)
    except (OSError, ParseException):
        raise incomplete(INCOMPLETE_BODY) from None
    if len(body) < (request.content_length or 0):
        raise incomplete(INCOMPLETE_BODY)
    # A body in chunks is read up to the limit, and nothing tells whether more would have followed.
    if request.content_length is None and len(body) >= (request.max_content_length or 0):
        raise TooLarge(TooLarge.of_body)
    request.environ["wsgi.input"] = BytesIO(body)  # for a request that is served anew at its turn
    return body


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
    request.max_content_length = request.max_form_memory_size = connection.MAX_BODY_BYTES
    request.max_form_parts = max_fields
    body = whole_body(InvalidParameter)
    separator = b"&" if request.mimetype == URLENCODED else b""
    # Before each field of a multipart form; other bodies have none.
    if request.mimetype == MULTIPART and (name := request.mimetype_params.get("boundary")):
        separator = f"--{name}".encode()
    # Between fields, or before each of them and at the end.
    max_separators = max_fields + (-1 if separator == b"&" else 1)
    if separator and body.count(separator) > max_separators:
        raise InvalidParameter(f"A form must have at most {max_fields} fields.")
    if len(body) <= LARGE_BYTES:
        return request.form
    client = client_address()
    with (
        services.services().waiting_threads.place_in_turn(client),
        reader().sources.get(LargeForms).place(client, wait_s=WAIT_S),
    ):
        if request.mimetype == URLENCODED:
            request.form, request.files = large_urlencoded(body), ImmutableMultiDict()
        elif separator and any(
            b"\r\n\r\n" not in part[:MAX_PART_HEAD_BYTES] for part in body.split(separator)[1:-1]
        ):
            raise InvalidParameter("The form is malformed.")
        return request.form


def large_urlencoded(body: bytes) -> ImmutableMultiDict[str, str]:
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
