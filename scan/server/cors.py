"""CORS: the headers by which any web page may call the API, in every response and in preflights."""

from scan.server.wsgi_responses import Headers

CORS = (
    ("Access-Control-Allow-Origin", "*"),
    (
        "Access-Control-Expose-Headers",
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag,"
        " X-Request-Id, X-Total-Count, X-Scan-Block, Link, X-Scan-Complete,"
        " X-Scan-History-Complete, X-Scan-Untraced-Blocks, X-Scan-Kept-From,"
        " X-Scan-Balances-Since, Content-Disposition",
    ),
)
SENT_HEADERS = "Content-Type, X-API-Key, X-Webhook-Secret, X-Scan-At-Least-Block"
PREFLIGHT_CACHED_S = 86_400


def preflight_headers(allow: str, requested: str = SENT_HEADERS) -> Headers:
    """Return the headers of an answer to OPTIONS: `allow` are the path's methods, `requested` the
    headers that the browser's page wants to send."""
    return [
        ("Allow", allow),
        ("Access-Control-Allow-Methods", allow),
        ("Access-Control-Allow-Headers", requested),
        ("Access-Control-Max-Age", str(PREFLIGHT_CACHED_S)),
    ]
