"""Reads a request for its view: the query string, the body, the API key, the client's address."""

import re
from collections.abc import Mapping
from io import BytesIO
from urllib.parse import parse_qsl, unquote_plus

from flask import request
from gunicorn.http.errors import ParseException

from scan import json_bodies, parameters
from scan.accounts.api_keys import ApiKey
from scan.errors import InvalidJson, InvalidParameter, ScanError, TooLarge, UnsupportedMediaType
from scan.ethereum.block_parameter import BlockId
from scan.http import own_machine
from scan.http.request_state import request_state_of
from scan.http.services import services
from scan.queries import blocks
from scan.queries.reader import Reader

MAX_BODY_BYTES = 1024 * 1024  # unless a view sets another bound
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
    charged = request_state_of(request.environ).charged
    return None if charged is None else charged.key


def client_address() -> str:
    """Return the client's address, as reported by the proxies that settings trust.

    Waiting requests are counted by it even if they have a key: an address may have many keys.
    """
    return request_state_of(request.environ).client


def is_own_machine() -> bool:
    """Return whether the client may be told which setting lifts a bound."""
    return own_machine.serves_own_machine(services().settings) and own_machine.is_from_own_machine(
        request.environ
    )


def reader() -> Reader:
    """Return the request's Reader of the chain; the versions that it reads decide on caching."""
    own = request_state_of(request.environ).reader
    assert own is not None
    return own


def note_changed_index() -> None:
    """Have this process's next responses show the index as this request leaves it."""
    request_state_of(request.environ).has_changed_index = True


def without_ignored(query: str, *, is_page: bool) -> str:
    """Return a query string without parameters that begin with `_`, and of a page without those of
    campaigns and trackers, so that neither views nor keys of cached responses have them."""
    if not query or not (is_page or "_" in query or "%" in query):
        return query
    return "&".join(field for field in query.split("&") if not _is_ignored(field, is_page))


def _is_ignored(field: str, is_page: bool) -> bool:
    name = unquote_plus(field.partition("=")[0]).lower()
    return name.startswith("_") or (is_page and (name.startswith("utm_") or name in TRACKERS))


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
        pairs = [field.partition("=")[::2] for field in text.split("&") if field]
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
