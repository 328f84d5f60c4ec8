"""Errors: the meaning of each status, its codes and its response."""

from scan.api.openapi.schemas import ALWAYS, RATE_HEADERS, Json, headers, record, ref
from scan.http.requests import MAX_BODY_BYTES
from scan.json_bodies import MAX_SOURCES_BYTES

ERRORS = {
    400: ("Malformed, of the wrong type or out of range.",
          ("invalid_json", "invalid_parameter")),
    401: ("An API key is required, or the one sent is unknown or inactive.",
          ("missing_api_key", "invalid_api_key")),
    403: ("The signature or the key belongs to another address.",
          ("signature_mismatch", "owner_mismatch")),
    404: ("Not found.", ("not_found",)),
    409: ("The request was already used, a limit is reached, the cursor's block is orphaned, or a"
          " stream cannot resume there.",
          ("replayed_request", "limit_reached", "reorganised", "position_lost")),
    413: (f"The body is larger than {MAX_BODY_BYTES >> 20} MiB (/verify:"
          f" {MAX_SOURCES_BYTES >> 20} MiB).", ("too_large",)),
    415: ("Content-Type is not application/json.", ("unsupported_media_type",)),
    422: ("Compilation, comparison or the call failed, or the node lacks old state or traces.",
          ("verification_failed", "call_reverted", "history_unavailable", "traces_unavailable")),
    429: ("The rate limit is exceeded.", ("rate_limited",)),
    502: ("The node does not respond.", ("upstream_failed",)),
    503: ("The database or a compiler is unavailable, or the query takes too long.",
          ("unavailable",)),
}  # fmt: skip

_REVERTED: Json = {
    "reason": {
        "type": "object",
        "description": "With call_reverted: the error's name, signature and arguments.",
        "examples": [{"name": "Panic", "signature": "Panic(uint256)", "arguments": []}],
    },
}
_REORGANISED: Json = {
    "commonBlock": record(
        "With reorganised: the newest block that is still in the chain. Discard records of later"
        " blocks.",
        {
            "number": {
                "type": "integer",
                "description": "-1: none.",
                "minimum": -1,
                "examples": [17],
            },
            "hash": ref("Hash"),
        },
    ),
    "cursor": {
        "type": ["string", "null"],
        "description": "With reorganised: continues after that block; null: start again.",
        "examples": ["P5McU6d74Yg1fDd8eDY4Njg2"],
    },
}


def _error(*statuses: int) -> Json:
    described = [ERRORS[status][0] for status in statuses]
    if len(statuses) > 1:
        described = [f"{status}: {ERRORS[status][0]}" for status in statuses]
    codes = [code for status in statuses for code in ERRORS[status][1]]
    code = {"description": "The error code.", "enum": codes}
    more = _REORGANISED if statuses == (409,) else _REVERTED if statuses == (422,) else {}
    schema = {"allOf": [ref("Error"), {"properties": {"code": code, **more}}]}
    return {
        "description": " ".join(described),
        "headers": headers(*RATE_HEADERS, *(("Retry-After",) if statuses == (502,) else ())),
        "content": {"application/json": {"schema": schema}},
    }


ERROR_RESPONSES: Json = {
    **{str(status): _error(status) for status in ERRORS if status not in ALWAYS},
    "default": _error(*ALWAYS),
}


def foreign_response(description: str, *names: str) -> Json:
    """Return a response whose content its interface's publisher documents."""
    return {
        "description": description,
        "headers": headers(*names),
        "content": {"application/json": {"schema": {"description": "See its documentation."}}},
    }
