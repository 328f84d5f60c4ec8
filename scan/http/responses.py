"""JSON responses."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import orjson
from flask import Response

from scan.server.wsgi import Environ

_STATUS_LINES = {int(status): f"{status.value} {status.phrase}" for status in HTTPStatus}


class JsonResponse(Response):
    """A body that is whole, sent as it is: Flask's own takes 5 us more to look for what may be
    relative, chunked or to be closed."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        super().__init__((body,), _STATUS_LINES[status], headers)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        start_response(self.status, self.headers.to_wsgi_list())
        if environ["REQUEST_METHOD"] == "HEAD":
            return ()
        return self.response  # type: ignore[return-value]  # bytes, as it was made


def json_body(body: str | bytes, status: int = 200) -> Response:
    """JSON that PostgreSQL has already made."""
    return JsonResponse(body.encode() if isinstance(body, str) else body, status)


def json_value(value: object, status: int = 200) -> Response:
    return JsonResponse(orjson.dumps(value), status)
