"""Reads a request for its view: the query string, the body, the API key, the client's address."""

import re
from binascii import a2b_qp
from collections.abc import Mapping
from urllib.parse import parse_qsl

from flask import request
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from scan import json_bodies, parameters
from scan.accounts.api_keys import ApiKey
from scan.errors import (
    InvalidJson,
    InvalidParameter,
    ScanError,
    TooLarge,
    UnsupportedMediaType,
)
from scan.ethereum.block_parameter import BlockId
from scan.http import own_machine
from scan.http.request_state import request_state_of
from scan.http.services import services
from scan.queries import blocks
from scan.queries.reader import Reader
from scan.rate_limits import client_address as addresses
from scan.server import connection

MAX_BODY_BYTES = 1024 * 1024  # unless a view sets another bound
MAX_FORM_FIELDS = 200
LARGE_FORM_BYTES = 256 * 1024  # parsed, a form takes ten times as much; large ones go one by one
FORM_WAIT_S = 1.0
MAX_PART_HEAD_BYTES = 4096  # of a multipart form: 5 MB of it take 3 s

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
INCOMPLETE_BODY = "The body ended early, or its chunks are malformed."

_NOT_UTF8 = re.compile("[\ud800-\udfff]")  # as surrogateescape marks bytes
_MALFORMED_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def api_key() -> ApiKey | None:
    """Return the key that the request was charged to."""
    charged = request_state_of(request.environ).charged
    return None if charged is None else charged.key


def client_address() -> str:
    """Return the client's address, as reported by the proxies that settings trust.

    Waiting requests are counted by it even if they have a key: an address may have many keys.
    """
    environ = request.environ
    return addresses.client_address(
        environ.get("REMOTE_ADDR") or "",
        environ.get("HTTP_X_FORWARDED_FOR", ""),
        services().settings.trusted_proxies,
    )


def is_own_machine() -> bool:
    """Return whether the client may be told which setting lifts a bound."""
    return own_machine.serves_own_machine(services().settings) and own_machine.is_from_own_machine(
        request.environ
    )


def reader() -> Reader:
    """Return the request's Reader of the chain; the versions that it reads decide on caching."""
    state = request_state_of(request.environ)
    if state.reader is None:
        state.reader = Reader(services().sources, client_address)
    return state.reader


def note_changed_index() -> None:
    """Have this process's next responses show the index as this request leaves it."""
    request_state_of(request.environ).has_changed_index = True


def query_arguments(*known: str) -> Mapping[str, str]:
    """Return the query string's parameters; raises InvalidParameter where a parameter is unknown or
    given twice, or is not UTF-8. Flask's own request.args takes 25 us."""
    # In WSGI each character of the text stands for a byte.
    text = request.environ["QUERY_STRING"].encode("latin-1").decode("utf-8", "surrogateescape")
    if not text:
        return {}
    if "%" in text or "+" in text:
        pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape")
    else:  # nothing is escaped; the parser takes four times as long
        fields = (field.partition("=") for field in text.split("&") if field)
        pairs = [(name, value) for name, _, value in fields]
    for name, value in pairs:
        if _NOT_UTF8.search(name):
            raise InvalidParameter("A query parameter's name is not valid UTF-8.")
        if _NOT_UTF8.search(value):
            raise InvalidParameter("The value is not valid UTF-8.", field=name[:50])
    arguments = dict(pairs)
    parameters.only_known_arguments(arguments, known)
    if len(arguments) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidParameter(f"{repeated[:50]} is given more than once.", field=repeated[:50])
    return arguments


def block_argument(arguments: Mapping[str, str]) -> BlockId | None:
    """Return the block whose state `block` asks for, None for the newest.

    Raises InvalidParameter, NotFound.
    """
    if arguments.get("block", "latest") == "latest":
        return None
    return blocks.find(reader(), parameters.block_number_or_hash(arguments["block"]))


def form(max_fields: int = MAX_FORM_FIELDS) -> MultiDict[str, str]:
    """Return the fields of an urlencoded or multipart form; uploads are in request.files
    afterwards.

    Raises InvalidParameter for one that ended early, is malformed or has too many fields,
    Unavailable where too many large ones are being read.
    """
    request.max_content_length = request.max_form_memory_size = connection.MAX_BODY_BYTES
    request.max_form_parts = max_fields
    body = whole_body(InvalidParameter)
    separator = b"&" if request.mimetype == URLENCODED else _boundary()
    # Between fields, or before each of them and at the end.
    max_separators = max_fields + (-1 if separator == b"&" else 1)
    if separator and body.count(separator) > max_separators:
        raise InvalidParameter(f"A form must have at most {max_fields} fields.")
    if len(body) <= LARGE_FORM_BYTES:
        return request.form
    client = client_address()
    with (
        services().waiting_threads.place(client, wait_s=FORM_WAIT_S),
        services().large_forms.place(client, wait_s=FORM_WAIT_S),
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


def json_object() -> dict[str, object]:
    """Return the body as an object; raises UnsupportedMediaType where it is not declared JSON,
    InvalidJson and TooLarge."""
    if not request.is_json:
        raise UnsupportedMediaType("Send the body as JSON, with Content-Type: application/json.")
    return json_bodies.json_object(whole_body(InvalidJson, is_kept=False))


def whole_body(incomplete: type[ScanError], *, is_kept: bool = True) -> bytes:
    """Return the body, which Flask can still parse if it `is_kept`.

    Raises `incomplete` for one that ended early, TooLarge for one beyond max_content_length.
    """
    try:
        body = request.get_data(cache=is_kept)
    except (OSError, ParseException):
        raise incomplete(INCOMPLETE_BODY) from None
    if len(body) < (request.content_length or 0):
        raise incomplete(INCOMPLETE_BODY)
    # A body in chunks is read up to the limit, and nothing tells whether more would have followed.
    if request.content_length is None and len(body) >= (request.max_content_length or 0):
        raise TooLarge(TooLarge.of_body)
    return body
