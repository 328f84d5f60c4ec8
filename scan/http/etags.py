"""Tags of responses, by which clients ask whether theirs is still the newest (RFC 9110, 8.8.3)."""

from scan.server.wsgi_responses import Environ, WsgiResponse

_COMPRESSED = '-gzip"'


def of_compressed(etag: str) -> str:
    """Return the tag of the compressed form of a response, which has other bytes."""
    return etag.removesuffix('"') + _COMPRESSED


def is_unmodified(environ: Environ, response: WsgiResponse) -> bool:
    """Return whether the client has this response in either form (RFC 9110, 13.1.2)."""
    condition = environ.get("HTTP_IF_NONE_MATCH")
    if condition is None or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return False
    etag = dict(response.headers).get("ETag")
    tags = [_of_plain(tag.strip().removeprefix("W/")) for tag in condition.split(",")]
    return etag is not None and (_of_plain(etag) in tags or tags == ["*"])


def _of_plain(etag: str) -> str:
    return f'{etag.removesuffix(_COMPRESSED)}"' if etag.endswith(_COMPRESSED) else etag
