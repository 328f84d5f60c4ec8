"""JSON responses."""

import orjson
from flask import Response, request

from scan.http.middleware import OF_THE_CHAIN


def json_body(body: str | bytes, status: int = 200) -> Response:
    """JSON that PostgreSQL has already made."""
    return Response(body, status, mimetype="application/json")


def json_value(value: object, status: int = 200) -> Response:
    return json_body(orjson.dumps(value), status)


def chain_body(body: str) -> Response:
    """JSON that stays the same until the index changes, and may be cached as long."""
    request.environ[OF_THE_CHAIN] = True
    return json_body(body)
