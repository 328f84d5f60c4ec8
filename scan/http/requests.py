"""Reads a request for its view: the query string, the body, which may be a form whose parsing is
bounded, the API key and the client's address; and makes responses of JSON.

Prerequisites of views beside the database: while one is missing, the middleware refuses their
requests in the loop, instead of having a thread find out.

Clients on a developer's own machine are told the setting that lifts a bound. Behind a proxy every
client seems to come from loopback: it is not told the setting, since its request has a header of
the proxy or another host's name, or Scan listens or trusts proxies beyond this machine.
"""

import re
from binascii import a2b_qp
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from http import HTTPStatus
from io import BytesIO
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote_plus

import flask
import orjson
from flask import request
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from scan import json_bodies, parameters
from scan.accounts.api_keys import ApiKey
from scan.errors import InvalidJson, InvalidParameter, ScanError, TooLarge, UnsupportedMediaType
from scan.ethereum.served_chain import BlockId
from scan.http.request_state import current_request, services
from scan.queries import blocks
from scan.queries.reader import Reader
from scan.rate_limits import concurrency, limiter
from scan.server import connection, responses
from scan.settings import Settings

RAISE_REQUESTS = "SCAN_RATE_LIMIT_ANONYMOUS=100000/minute"
RAISE_PAGES = "SCAN_RATE_LIMIT_PAGES=100000/minute"
RAISE_FILES = "SCAN_RATE_LIMIT_FILES=100000/hour"
ALLOW_RECEIVERS = "SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8"
_LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.I)


def serves_own_machine(settings: Settings) -> bool:
    return settings.trusted_proxies == 0 and limiter.is_loopback(settings.host)


def is_from_own_machine(environ: responses.Environ) -> bool:
    return (
        limiter.is_loopback(environ.get("REMOTE_ADDR") or "")
        and bool(_LOCAL_HOST.fullmatch(environ.get("HTTP_HOST", "")))
        and not any(name in environ for name in limiter.OF_PROXIES)
    )


def advise(error: ScanError, setting: str) -> None:
    """Add the setting to an error's message."""
    error.message += f" On your own machine, start Scan with {setting}."


USUAL_BODY_BYTES = 1024 * 1024  # unless a view sets another bound
INCOMPLETE_BODY = "The body ended early, or its chunks are malformed."

# Caches, campaigns and trackers append these to any URL, besides those of campaigns that begin with
# utm_; they mean nothing here.
TRACKERS = frozenset(
    """
    dclid fbclid gad_source gbraid gclid gclsrc igsh igshid li_fat_id mc_cid mc_eid mkt_tok msclkid
    ref ref_src ref_url srsltid ttclid twclid wbraid yclid
    """.split()
)

_NOT_UTF8 = re.compile("[\ud800-\udfff]")  # as surrogateescape marks bytes


def api_key() -> ApiKey | None:
    """Return the key that the request was charged to."""
    charged = current_request().charged
    return None if charged is None else charged.key


def client_address() -> str:
    """Return the client's address, as reported by the proxies that settings trust.

    Waiting requests are counted by it even if they have a key: an address may have many keys.
    """
    return current_request().client


def is_own_machine() -> bool:
    """Return whether the client may be told which setting lifts a bound."""
    return serves_own_machine(services().settings) and is_from_own_machine(request.environ)


def reader() -> Reader:
    """Return the request's Reader of the chain; the versions that it reads decide on caching."""
    request_reader = current_request().reader
    assert request_reader is not None
    return request_reader


def note_changed_index() -> None:
    """Have this process's next responses show the index as this request leaves it."""
    current_request().has_changed_index = True


def without_ignored(query: str, *, is_page: bool) -> str:
    """Return a query string without parameters that begin with `_`, and of a page without those of
    campaigns and trackers, so that neither views nor keys of cached responses have them."""
    if not query or not (is_page or "_" in query or "%" in query):
        return query
    return "&".join(field for field in query.split("&") if not _is_ignored(field, is_page))


def _is_ignored(field: str, is_page: bool) -> bool:
    name = unquote_plus(field.partition("=")[0]).lower()
    return name.startswith("_") or (is_page and (name.startswith("utm_") or name in TRACKERS))


def query_arguments(*allowed: str) -> Mapping[str, str]:
    """Return the query string's parameters; raises InvalidParameter where a parameter is unknown or
    given twice, or is not UTF-8. Flask's own request.args takes 25 us."""
    text: str = current_request().environ["QUERY_STRING"]
    if not text:
        return {}
    if text.isascii() and "%" not in text and "+" not in text:
        pairs = [field.partition("=")[::2] for field in text.split("&") if field]
    else:  # the parser takes four times as long
        # In WSGI each character of the text stands for a byte.
        text = text.encode("latin-1").decode("utf-8", "surrogateescape")
        pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape")
        for name, value in pairs:
            if _NOT_UTF8.search(name):
                raise InvalidParameter("A query parameter's name is not valid UTF-8.")
            if _NOT_UTF8.search(value):
                raise InvalidParameter("The value is not valid UTF-8.", field=name[:50])
    arguments = dict(pairs)
    for name in arguments:
        if name and name not in allowed:
            raise parameters.unknown_argument(name, allowed)
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
    request.environ["wsgi.input"] = BytesIO(body)  # for a request that is served anew at its turn
    return body


MAX_FIELDS = 200
LARGE_BYTES = 256 * 1024  # parsed, a form takes ten times as much; large ones go one by one
WAIT_S = 1.0
MAX_PART_HEAD_BYTES = 4096  # of a multipart form: 5 MB of it take 3 s

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_MALFORMED_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class LargeForms(concurrency.ConcurrencyLimit):
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


_STATUS_LINES = {int(status): f"{status.value} {status.phrase}" for status in HTTPStatus}


class JsonResponse:
    """A whole body of JSON; Flask's Response takes 6 us more."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        self.body = body
        self.status = _STATUS_LINES[status]
        self.headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}

    def __call__(self, environ: responses.Environ, start_response: Any) -> Iterable[bytes]:
        """Respond as a WSGI application, which Flask's types want of what a view returns."""
        raise NotImplementedError("Application.answer() reads the body")


# What a view returns.
Response = flask.Response | JsonResponse


def json_body(body: str | bytes) -> JsonResponse:
    """Return a response with a body that is JSON already, mostly made by PostgreSQL."""
    return JsonResponse(body.encode() if isinstance(body, str) else body)


def json_fragment(text: str | None) -> orjson.Fragment | None:
    """Return JSON from PostgreSQL or the compiler, which a response contains unchanged."""
    return None if text is None else orjson.Fragment(text)


def json_value(value: object, status: int = 200) -> JsonResponse:
    return JsonResponse(orjson.dumps(value), status)


_V = TypeVar("_V", bound=Callable[..., Any])
_ATTRIBUTE = "scan_prerequisite"  # of a view


class Prerequisite(Enum):
    NODE = "an answer of the node"
    NODE_FIELDS = "an answer of the node, without which some fields are null"
    LONG_WAIT = "a place to wait in for long, as for a compiler"


Of = Prerequisite | None | Callable[[str], Prerequisite | None]


def requires(prerequisite: Of) -> Callable[[_V], _V]:
    """Decorate a view with its prerequisite, or with a function that returns it for a query. The
    view waits for its turn where it first needs the node, as caches may have what it needs."""

    def decorate(view: _V) -> _V:
        setattr(view, _ATTRIBUTE, prerequisite)
        return view

    return decorate


def prerequisite_of(view: object, query: str = "") -> Prerequisite | None:
    """Return the prerequisite that a view, or another object, was decorated with."""
    prerequisite: Of = getattr(view, _ATTRIBUTE, None)
    return prerequisite(query) if callable(prerequisite) else prerequisite
