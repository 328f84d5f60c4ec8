"""Whole responses in memory, each until the index changes that it was made from: their tags, by
which clients ask whether theirs is still the newest (RFC 9110, 8.8.3), and their forms in gzip,
which are made in threads and kept with the cached response; the worker's loop only chooses between
the two."""

import hashlib
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from werkzeug.http import parse_accept_header

from scan.http.index_version import IndexVersion
from scan.http.interfaces import API
from scan.http.request_state import CacheKey, RequestState, read_body
from scan.queries.reader import Reader
from scan.server.responses import Environ, Headers, WsgiResponse

MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRY_BYTES = 2 * 1024 * 1024
MAX_TIMED = 64
ENTRY_BYTES = 600  # of an entry without its texts, measured
QUERY = f"{API}/query"
# Seconds by path; all other open paths are files.
CACHED_FOR_S = {"/": 1.0, "/readyz": 1.0, "/metrics": 1.0}
FILE_CACHED_FOR_S = 3600.0  # they change with the release alone
MAX_CACHED_BODY_BYTES = 4096  # of a request to /query


class _OfVersion(NamedTuple):
    """Responses that were read from one version of the index."""

    version: int
    rewinds: int
    responses: OrderedDict[CacheKey, WsgiResponse]  # the oldest first


class _Timed(NamedTuple):
    response: WsgiResponse
    until: float  # time.monotonic()


class ResponseCache:
    """Responses by key. Most are served while no newer version of the index is known than the one
    they were read from; some others are served for a time."""

    def __init__(
        self,
        index_version: IndexVersion,
        most_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._index_version = index_version
        self._most_bytes = most_bytes
        self._clock = clock
        self._lock = threading.Lock()
        # One attribute, so that no thread sees a new version with the responses of an old one.
        self._current = _OfVersion(-1, 0, OrderedDict())
        self._timed: dict[CacheKey, _Timed] = {}
        self._bytes = 0

    def find(self, key: CacheKey) -> WsgiResponse | None:
        """Return the cached response if it is current. Never waits."""
        version, rewinds, responses = self._current
        response = responses.get(key)
        if response is not None:
            is_newest = self._index_version.newest() == version
            return response if is_newest and self._index_version.rewinds == rewinds else None
        timed = self._timed.get(key)
        return timed.response if timed is not None and self._clock() < timed.until else None

    def store(self, key: CacheKey, response: WsgiResponse, version: int) -> None:
        if not self._index_version.may_be_newest(version):
            return
        size = _size(key, response)
        if size > MAX_ENTRY_BYTES:  # a few of these would drop all others
            return
        with self._lock:
            rewinds = self._index_version.rewinds
            is_same = (version, rewinds) == (self._current.version, self._current.rewinds)
            if version < self._current.version and rewinds == self._current.rewinds:
                return
            if not is_same:
                self._current, self._bytes = _OfVersion(version, rewinds, OrderedDict()), 0
            responses = self._current.responses
            if key in responses:  # two threads have made it
                return
            while self._bytes + size > self._most_bytes:
                self._bytes -= _size(*responses.popitem(last=False))
            responses[key] = response
            self._bytes += size

    def replace(self, key: CacheKey, response: WsgiResponse, other: WsgiResponse) -> None:
        """Replace a response, which find() returned, by one with its compressed form."""
        with self._lock:
            timed, responses = self._timed.get(key), self._current.responses
            if timed is not None and timed.response is response:
                self._timed[key] = timed._replace(response=other)
            elif responses.get(key) is response:
                self._bytes += _size(key, other) - _size(key, response)
                responses[key] = other

    def store_for(self, key: CacheKey, response: WsgiResponse, seconds: float) -> None:
        """Store a response for a time; at most MAX_TIMED of these are kept."""
        if len(self._timed) >= MAX_TIMED:
            self._timed.clear()
        self._timed[key] = _Timed(response, self._clock() + seconds)


def cache_key(state: RequestState) -> CacheKey | None:
    """Return the key of a request's response, or None if that is never cached."""
    query = state.environ.get("QUERY_STRING", "")
    is_plain = state.method in ("GET", "HEAD") and not state.has_body
    if is_plain and state.cached_for_s is not None and state.page != "/":
        # Neither a query nor Accept changes it.
        return CacheKey(state.page)
    if state.accepted_file is not None:
        return None
    if is_plain:
        if state.cached_for_s is not None:
            return CacheKey("/")
        varies_by = state.interface.varies_by if state.interface else ""
        field = f"HTTP_{varies_by.upper().replace('-', '_')}"
        return CacheKey(state.path, query, str(state.environ.get(field, "")) if varies_by else "")
    if state.method != "POST" or state.path != QUERY:
        return None
    body = _small_body(state.environ)
    content_type = state.environ.get("CONTENT_TYPE", "")
    return None if body is None else CacheKey(QUERY, query, content_type, body)


def _small_body(environ: Environ) -> bytes | None:
    """Return a small body, or None if it is long or ends early; Flask can read it again."""
    length = environ.get("CONTENT_LENGTH", "")
    is_number = length.isascii() and length.isdecimal() and len(length) < 20
    if not is_number or int(length) > MAX_CACHED_BODY_BYTES:
        return None
    body = read_body(environ, int(length))
    return body if len(body) == int(length) else None


def may_be_cached(
    state: RequestState, reader: Reader, status: str, version_before: int | None
) -> bool:
    """Return whether a response may be cached: not if the index changed while it was made, since
    some statements return no version, and may have read before the change."""
    if state.cache_key is None:
        return False
    # A node that failed may answer the next request.
    if reader.has_node_failed or not reader.depends_on_index_alone:
        return False
    if state.cached_for_s is not None:
        return True
    return (
        status.startswith("200")
        and len(reader.versions) == 1
        and (version_before is None or version_before in reader.versions)
    )


def _size(key: CacheKey, response: WsgiResponse) -> int:
    gzipped = response.gzipped.body if response.gzipped else b""
    return ENTRY_BYTES + sum(map(len, key)) + len(response.body) + len(gzipped)


TAG_CHARACTERS = 32
_COMPRESSED = '-gzip"'


def etag_of(body: bytes) -> str:
    """Return the tag of a body: equal bytes have an equal tag, of whichever block and instance."""
    return f'"{hashlib.sha256(body).hexdigest()[:TAG_CHARACTERS]}"'


def is_unmodified(environ: Environ, response: WsgiResponse) -> bool:
    """Return whether the client has this response in either form (RFC 9110, 13.1.2)."""
    condition = environ.get("HTTP_IF_NONE_MATCH")
    if condition is None or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return False
    etag = dict(response.headers).get("ETag")
    tags = [_plain_etag(tag.strip().removeprefix("W/")) for tag in condition.split(",")]
    return etag is not None and (_plain_etag(etag) in tags or tags == ["*"])


def _plain_etag(etag: str) -> str:
    return f'{etag.removesuffix(_COMPRESSED)}"' if etag.endswith(_COMPRESSED) else etag


MIN_BYTES = 1024
# Of a page of 39 kB level 2 leaves 6.3 kB and level 9 5.7 kB, in three to four times the time.
LEVEL = 2
FILE_LEVEL = 9  # of what is compressed once an hour
TYPES = tuple(
    """
    text/html text/css text/javascript text/plain application/json
    application/linkset+json application/atom+xml image/svg+xml
    """.split()
)
_GZIP_FORMAT = 31  # zlib's window bits, with gzip's header


@lru_cache(maxsize=256)  # parsing takes 20 us; the middleware bounds the header's length
def accepts_gzip(accepted: str) -> bool:
    """Return whether a header Accept-Encoding accepts gzip."""
    return "gzip" in accepted and parse_accept_header(accepted)["gzip"] > 0


def is_compressible(headers: Headers) -> bool:
    """Return whether a response with these headers is text that is long enough."""
    by_name = dict(headers)
    return (
        by_name.get("Content-Type", "").startswith(TYPES)
        and int(by_name.get("Content-Length", "0")) >= MIN_BYTES
        and "Content-Encoding" not in by_name
    )


def is_missing(response: WsgiResponse) -> bool:
    """Return whether the compressed form has still to be made."""
    return response.gzipped is None and bool(response.body) and is_compressible(response.headers)


def negotiated(state: RequestState, status: str, headers: Headers, body: bytes) -> WsgiResponse:
    """Return a response with what it varies by, and with its compressed form where the client
    accepts that."""
    varies = {value: None for name, value in headers if name == "Vary"}
    headers = [header for header in headers if header[0] != "Vary"]
    is_text = is_compressible(headers)
    if is_text:
        varies["Accept-Encoding"] = None
    if varies:
        headers.append(("Vary", ", ".join(varies)))
    response = WsgiResponse(status, headers, body, state.route)
    is_compressed = is_text and state.accepts_gzip
    return add_compressed(response, is_file=state.is_open) if is_compressed else response


def add_compressed(response: WsgiResponse, *, is_file: bool) -> WsgiResponse:
    level = FILE_LEVEL if is_file else LEVEL
    compressor = zlib.compressobj(level, zlib.DEFLATED, _GZIP_FORMAT)
    body = compressor.compress(response.body) + compressor.flush()
    headers = [("Content-Encoding", "gzip"), ("Content-Length", str(len(body)))]
    for name, value in response.headers:
        if name == "ETag":  # other bytes have another tag
            headers.append((name, value.removesuffix('"') + _COMPRESSED))
        elif name != "Content-Length":
            headers.append((name, value))
    return response._replace(gzipped=response._replace(headers=headers, body=body))


def plain_get(state: RequestState) -> Environ:
    """Return the environ of an unconditional GET, whose response serves later requests, too."""
    conditions = ("HTTP_RANGE", "HTTP_IF_")
    plain = {
        name: value for name, value in state.environ.items() if not name.startswith(conditions)
    }
    return {**plain, "REQUEST_METHOD": "GET", "PATH_INFO": state.page}
