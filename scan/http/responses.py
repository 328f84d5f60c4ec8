"""JSON responses."""

import orjson
from flask import Response

from scan.queries.pages import Page


def json_body(body: str | bytes, status: int = 200) -> Response:
    """JSON that PostgreSQL has already made."""
    return Response(body, status, mimetype="application/json")


def list_body(name: str, page: Page) -> Response:
    """{name: [...], total}, and of internal transfers how many blocks have no traces."""
    more = "" if page.untraced_blocks is None else f',"untracedBlocks":{page.untraced_blocks}'
    return json_body(f'{{"{name}":{page.data},"total":{page.total}{more}}}')


def json_value(value: object, status: int = 200) -> Response:
    return json_body(orjson.dumps(value), status)
