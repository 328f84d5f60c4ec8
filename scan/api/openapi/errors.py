"""Responses with an error: the meaning of each status, its codes and further fields."""

from collections.abc import Mapping
from typing import Any

from scan.api.openapi.declarations import Json, declared
from scan.api.openapi.schemas import field, ref
from scan.cached_values import LazyMapping

ALWAYS = (400, 401, 429, 503)  # of every operation: its `default` response
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

# What each status means, and its codes.
ERRORS: Mapping[int, tuple[str, tuple[str, ...]]] = LazyMapping(
    lambda: {
        int(status): (meaning, tuple(codes))
        for status, (meaning, *codes) in declared("errors").items()
    }
)


def error_responses() -> Json:
    own = {str(status): _error(status) for status in ERRORS if status not in ALWAYS}
    return own | {"default": _error(*ALWAYS)}


def _error(*statuses: int) -> Json:
    described = [ERRORS[status][0] for status in statuses]
    further: dict[str, Any] = {}
    if len(statuses) > 1:
        described = [f"{status}: {ERRORS[status][0]}" for status in statuses]
    else:
        further = declared("errors_with").get(str(statuses[0]), {})
    codes = [code for status in statuses for code in ERRORS[status][1]]
    fields = {"code": {"description": "The error code.", "enum": codes}} | {
        name: field(value) for name, value in further.items()
    }
    schema = {"allOf": [ref("Error"), {"properties": fields}]}
    return _response(
        " ".join(described), schema, *RATE_HEADERS, *(("Retry-After",) if 502 in statuses else ())
    )


def _response(description: str, schema: Json, *headers: str) -> Json:
    """Return a response with headers, and the request's id among them."""
    return {
        "description": description,
        "headers": header_references(*headers, "X-Request-Id"),
        "content": {"application/json": {"schema": schema}},
    }


def header_references(*names: str) -> Json:
    """Return references to components of headers, which are named by their last word."""
    return {name: {"$ref": f"#/components/headers/{name.rpartition('-')[2]}"} for name in names}


def foreign_responses() -> Json:
    """Return responses whose content their interfaces' publishers document."""
    content = {"description": "See its documentation."}
    return {
        name: _response(description, content, *headers)
        for name, (description, *headers) in declared("responses").items()
    }
