"""JSON responses."""

import orjson
from flask import Response


def json_body(body: str | bytes, status: int = 200) -> Response:
    """JSON that PostgreSQL has already made."""
    return Response(body, status, mimetype="application/json")


def json_value(value: object, status: int = 200) -> Response:
    return json_body(orjson.dumps(value), status)
