"""HTTP requests of commands to a running service."""

import json
from collections.abc import Mapping
from email.message import Message
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from scan.errors import ScanError

MAX_RESPONSE_BYTES = 16 * 1024 * 1024


class NoResponse(ScanError):
    """The service cannot be reached, or does not respond in HTTP."""


class Response(NamedTuple):
    status: int
    headers: Message
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the JSON object of the body; {} where it has none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def send(
    url: str,
    timeout_s: float,
    *,
    method: str | None = None,
    headers: Mapping[str, str] | None = None,
    body: object = None,
) -> Response:
    """Return the response, of whatever status. The `body` is sent as JSON; without a `method`, a
    request with a body is a POST. Raises NoResponse."""
    content = {} if body is None else {"Content-Type": "application/json"}
    try:
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, {**content, **(headers or {})}, method=method)
        try:
            response = urlopen(request, timeout=timeout_s)
        except HTTPError as error:
            response = error
        with response:
            return Response(response.status, response.headers, response.read(MAX_RESPONSE_BYTES))
    except (HTTPException, OSError, ValueError) as error:
        raise NoResponse(f"no response from {url}: {getattr(error, 'reason', error)}") from None
