"""What views use: it reads a request, its query string, its body, which may be a form whose parsing
is bounded, and makes responses of JSON, and of lists as one page of JSON or whole as a file.

Prerequisites of views beside the database: while one is missing, the middleware refuses their
requests in the loop, instead of having a thread find out.
"""

import re
from binascii import a2b_qp
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from functools import cache, lru_cache, partial
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

import flask
import orjson
from flask import Blueprint, request
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from scan import json_bodies, parameters, registry
from scan.accounts.api_keys import ApiKey
from scan.database.lists import all_entities
from scan.errors import InvalidJson, InvalidParameter, ScanError, TooLarge, UnsupportedMediaType
from scan.ethereum.served_chain import BlockId
from scan.http import hooks, request_state
from scan.parameters import BIGINT_MAX
from scan.queries import blocks, entities
from scan.queries.filter_values import FILTER_KEYS
from scan.queries.filtered_pages import MAX_ENTRIES
from scan.queries.list_pages import Page
from scan.queries.reader import Reader
from scan.queries.windows import Window
from scan.rate_limits import concurrency
from scan.server import connection, responses

USUAL_BODY_BYTES = 1024 * 1024  # unless a view sets another bound
INCOMPLETE_BODY = "The body ended early, or its chunks are malformed."

_NOT_UTF8 = re.compile("[\ud800-\udfff]")  # as surrogateescape marks bytes


def api_key() -> ApiKey | None:
    """Return the key that the request was charged to."""
    charged = request_state.current_request().charged
    return None if charged is None else charged.key


def client_address() -> str:
    """Return the client's address, as reported by the proxies that settings trust.

    Waiting requests are counted by it even if they have a key: an address may have many keys.
    """
    return request_state.current_request().client


def reader() -> Reader:
    """Return the request's Reader of the chain; the versions that it reads decide on caching."""
    request_reader = request_state.current_request().reader
    assert request_reader is not None
    return request_reader


def note_changed_index() -> None:
    """Have this process's next responses show the index as this request leaves it."""
    request_state.current_request().has_changed_index = True


def query_arguments(*allowed: str) -> Mapping[str, str]:
    """Return the query string's parameters; raises InvalidParameter where a parameter is unknown or
    given twice, or is not UTF-8. Flask's own request.args takes 25 us."""
    text: str = request_state.current_request().environ["QUERY_STRING"]
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
        request_state.services().waiting_threads.place_in_turn(client),
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


_ATTRIBUTE = "scan_prerequisite"  # of a view


class Prerequisite(Enum):
    NODE = "an answer of the node"
    NODE_FIELDS = "an answer of the node, without which some fields are null"
    LONG_WAIT = "a place to wait in for long, as for a compiler"


Of = Prerequisite | None | Callable[[str], Prerequisite | None]


def requires(prerequisite: Of) -> Callable[[request_state.View], request_state.View]:
    """Decorate a view with its prerequisite, or with a function that returns it for a query. The
    view waits for its turn where it first needs the node, as caches may have what it needs."""
    return request_state.attributed(_ATTRIBUTE, prerequisite)


def prerequisite_of(view: object, query: str = "") -> Prerequisite | None:
    """Return the prerequisite that a view, or another object, was decorated with."""
    prerequisite: Of = getattr(view, _ATTRIBUTE, None)
    return prerequisite(query) if callable(prerequisite) else prerequisite


PAGED = ("page", "limit", "cursor")
# Parameters of a list, and of one that is ordered along the chain.
LISTED = (*PAGED, request_state.PARAMETER)
ORDERED = (*LISTED, *entities.RANGE, "orderBy")
ReadPage = Callable[[Window], Page]


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
    """Return {name: [...], total, more, next}; the header Link leads to the next page, too.

    `arguments` are the request's.
    """
    body = f'{{"{name}":'.encode(), page.data.encode(), facts_of(page, reader().reported)
    response = JsonResponse(b"".join(body))
    if page.next is not None:
        response.headers["Link"] = next_link(page.next, arguments)
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
    kept = ""
    for name, text in arguments.items():
        if name and name not in ("page", "cursor"):
            quoted = text if text.isascii() and text.isalnum() else quote_plus(text)
            kept += f"{name}={quoted}&"
    return f'<{_quoted(request_state.current_request().path)}?{kept}cursor={cursor}>; rel="next"'


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


def list_response(
    name: str,
    arguments: Mapping[str, str],
    read: ReadPage,
    *,
    direction: str = "desc",
    kind: str = "",
    address: bytes | None = None,
    read_for_file: ReadPage | None = None,
) -> Response:
    """Return a page of a list, or all of it as a file.

    `name` is the list's key in JSON, `kind` that of its file where it is another; `address` is
    that in its path. `read_for_file` reads a file's rows where `read` cannot.
    """
    file = request_state.current_request().accepted_file
    if request_state.PARAMETER in arguments:  # it takes precedence over Accept
        chosen = parameters.one_of(
            arguments[request_state.PARAMETER], request_state.PARAMETER, request_state.FORMATS
        )
        file = None if chosen == request_state.JSON else request_state.Format(chosen)
    if file is None:
        return list_body(name, read(window_of(arguments, direction)), arguments)
    for paged in ("page", "limit"):
        if paged in arguments:
            raise InvalidParameter(f"A file is the whole list; leave out {paged}.", field=paged)
    window = window_of(arguments, direction)
    [files] = registry.parts(hooks.ListFiles)
    return files.send(kind or name, read_for_file or read, file, window, arguments, address)
