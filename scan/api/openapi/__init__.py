"""The API as an OpenAPI 3.1 document; tests compare it with the code."""

from types import ModuleType

from scan import VERSION, registry
from scan.api.openapi import (
    chain,
    contracts,
    filtered_lists,
    keys_and_webhooks,
    query,
    records,
    service,
    transaction_details,
    webhook_events,
)
from scan.api.openapi.errors import ERROR_RESPONSES
from scan.api.openapi.parameters import PARAMETERS
from scan.api.openapi.schemas import (
    ANONYMOUS,
    KEYS,
    OPTIONAL_HEADERS,
    SCALARS,
    Json,
    with_fields,
)
from scan.http.interfaces import API

# Modules with paths below /api/v1, and modules with schemas; a new one is added here.
PATHS = (
    *(chain, query, filtered_lists),
    *(contracts, keys_and_webhooks),
    *registry.parts("openapi"),
)
SCHEMAS = (
    *(records, transaction_details, chain, query, filtered_lists),
    *(contracts, keys_and_webhooks, webhook_events, service),
    *registry.parts("openapi"),
)

DESCRIPTION = """\
Blocks, transactions, tokens, transfers and trades of an EVM chain; verified contracts and read-only
calls to them; API keys and signed webhooks.

- Amounts, gas and supplies are strings of decimal digits, since JSON numbers are exact only up to
  2^53. Block numbers and counts are numbers. Times are ISO 8601 in UTC. Addresses and hashes are
  accepted in any letter case and returned in lower case.
- Requests are limited per client address, or per key with a higher limit if they have an API key.
  Every response has the limit, the remaining requests and the reset time in `X-RateLimit-Limit`,
  `X-RateLimit-Remaining` and `X-RateLimit-Reset`, and the request's id in `X-Request-Id`; 429, 502
  and 503 have `Retry-After`.
- Errors are `{"error": message, "code": slug}`, with `field` if one parameter is invalid. Unknown
  paths return 404, unsupported methods 405 with `Allow`.
- Unknown query parameters are errors, except those that begin with `_`, which are ignored.
- Responses with chain data have the header `X-Scan-Block`: they contain nothing from later blocks.
  Send its value as `X-Scan-At-Least-Block` to get responses at least that new, also from another
  instance.
- HEAD is supported wherever GET is. OPTIONS and CORS are supported everywhere.
"""

_HEADERS: Json = {
    "X-RateLimit-Limit": ("Requests allowed per window.", {"type": "integer"}, 10),
    "X-RateLimit-Remaining": ("Requests left in the window.", {"type": "integer"}, 9),
    "X-RateLimit-Reset": ("When the oldest counted request leaves the window, in Unix seconds.",
                          {"type": "integer"}, 1767225660),
    "Retry-After": ("Seconds to wait before the next request.", {"type": "integer"}, 5),
    "X-Request-Id": ("The request's id in the log; a client may choose it.",
                     {"type": "string"}, "5f3a9c0d1e2b4a67"),
    "Link": ("The path of the next page, with rel=next.", {"type": "string"},
             '</api/v1/blocks?cursor=P5McU6d7>; rel="next"'),
    "X-Scan-Block": ("The newest block of the indexed chain.", {"type": "integer"}, 353),
}  # fmt: skip


def document(base_path: str = "") -> Json:
    """Return the document."""
    outside = registry.values("openapi", "outside_paths")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Scan",
            "version": VERSION,
            "summary": "A block explorer's REST API",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_path or "/", "description": "This server."}],
        # Operations that require a key override this.
        "security": [*ANONYMOUS, *KEYS],
        "tags": [
            {"name": "Chain", "description": "Chain data."},
            {"name": "Contracts", "description": "Verified sources, and calls of contracts."},
            {"name": "API keys", "description": "Keys with higher limits, for owners of wallets."},
            {"name": "Webhooks", "description": "Notifications about an address."},
            *registry.collected("openapi", "TAGS"),
            {"name": "Service", "description": "The state of the service; not rate limited."},
        ],
        "paths": {
            **{API + path: page for module in PATHS for path, page in _paths(module).items()},
            **{path: page for paths in outside for path, page in paths(base_path).items()},
            **service.PATHS,
        },
        "webhooks": webhook_events.PAGES,
        "components": {
            "schemas": {
                **_schemas(),
                **SCALARS,
            },
            "responses": {
                **ERROR_RESPONSES,
                **registry.merged("openapi", "RESPONSES"),
            },
            "parameters": {
                **PARAMETERS, **filtered_lists.PARAMETERS,
                **webhook_events.PARAMETERS,
                **registry.merged("openapi", "PARAMETERS"),
            },
            "headers": {name.rpartition("-")[2]: _header(name) for name in _HEADERS},
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-API-Key",
                    "description": "`scan_` and 64 hex digits; see POST /api/v1/keys.",
                },
                "Bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The same key as `Authorization: Bearer scan_…`.",
                },
            },
        },
    }  # fmt: skip


def _paths(module: ModuleType) -> Json:
    paths: Json = getattr(module, "PATHS", {})
    return paths


def _schemas() -> Json:
    """Return the schemas, with the fields that extensions add to records, by schema: ADDED may be
    absent, REQUIRED may not."""
    schemas: Json = {
        name: schema
        for module in SCHEMAS
        for name, schema in getattr(module, "SCHEMAS", {}).items()
    }
    for module in registry.parts("openapi"):
        for name, fields in getattr(module, "ADDED", {}).items():
            schemas[name] = with_fields(schemas[name], fields)
        for name, fields in getattr(module, "REQUIRED", {}).items():
            schemas[name] = with_fields(schemas[name], fields, required=fields)
    return schemas


def _header(name: str) -> Json:
    description, schema, example = _HEADERS[name]
    required = name not in (*OPTIONAL_HEADERS, "Link")
    return {"description": description, "required": required, "schema": schema, "example": example}
