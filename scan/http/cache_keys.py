"""Keys of cached responses."""

import io

from gunicorn.http.errors import ParseException

from scan.http.interfaces import API
from scan.http.list_format import accepted_file
from scan.http.request_state import CacheKey, RequestState
from scan.server.wsgi_responses import Environ

QUERY = f"{API}/query"
# Seconds by path; all other open paths are files.
CACHED_FOR_S = {"/": 1.0, "/readyz": 1.0, "/metrics": 1.0}
FILE_CACHED_FOR_S = 3600.0  # they change with the release alone
MAX_CACHED_BODY_BYTES = 4096  # of a request to /query


def cache_key(state: RequestState) -> CacheKey | None:
    """Return the key of a request's response, or None if that is never cached."""
    query = state.environ.get("QUERY_STRING", "")
    is_plain = state.method in ("GET", "HEAD") and not state.has_body
    if is_plain and state.cached_for_s is not None and state.page != "/":
        # Neither a query nor Accept changes it.
        return CacheKey(state.page)
    accept = state.environ.get("HTTP_ACCEPT", "")
    if "markdown" in accept or accepted_file(accept) is not None:
        return None
    if is_plain:
        return CacheKey(state.path, query) if state.cached_for_s is None else CacheKey("/")
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
    try:
        body: bytes = environ["wsgi.input"].read(int(length))
    except (OSError, ParseException):
        body = b""
    environ["wsgi.input"] = io.BytesIO(body)
    return body if len(body) == int(length) else None
