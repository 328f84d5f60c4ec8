"""Responses of JSON, and what a view returns."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import flask
import orjson

from scan.http.interfaces import API
from scan.server import responses

_STATUS_LINES = {int(status): f"{status.value} {status.phrase}" for status in HTTPStatus}


class JsonResponse:
    """A whole body of JSON; Flask's Response takes 6 us more."""

    def __init__(self, body: bytes, status: int = 200, location: str | None = None) -> None:
        self.body = body
        self.status = _STATUS_LINES[status]
        self.headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        if location is not None:
            self.headers["Location"] = location

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


def created(value: object, path: str) -> JsonResponse:
    """Return 201 for what is at a path of the API now."""
    return JsonResponse(orjson.dumps(value), 201, f"{API}{path}")
