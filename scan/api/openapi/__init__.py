"""The API as an OpenAPI 3.1 document; tests compare it with the code."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from scan import VERSION
from scan.api.openapi.chain import CHAIN_PATHS, CHAIN_SCHEMAS
from scan.api.openapi.compatibility import (
    COMPATIBILITY_PARAMETERS,
    COMPATIBILITY_RESPONSES,
    ETHERSCAN_DOCS,
    ETHERSCAN_TAG,
    SOURCIFY_DOCS,
    SOURCIFY_TAG,
    etherscan_paths,
    sourcify_paths,
)
from scan.api.openapi.contracts import CONTRACT_PATHS, CONTRACT_SCHEMAS
from scan.api.openapi.events import EVENT_PAGES, EVENT_PARAMETERS, EVENT_SCHEMAS
from scan.api.openapi.filtered import FILTER_PARAMETERS, FILTERED_PATHS, FILTERED_SCHEMAS
from scan.api.openapi.history import HISTORY_PATHS, HISTORY_SCHEMAS
from scan.api.openapi.items import ITEM_PATHS, ITEM_SCHEMAS
from scan.api.openapi.logs import LOG_PATHS, LOG_SCHEMAS
from scan.api.openapi.owners import OWNER_PATHS, OWNER_SCHEMAS
from scan.api.openapi.parameters import PARAMETERS
from scan.api.openapi.records import RECORDS
from scan.api.openapi.schemas import (
    ALWAYS,
    ANONYMOUS,
    ERRORS,
    KEYS,
    OPTIONAL_HEADERS,
    RATE_HEADERS,
    SCALARS,
    Json,
    headers,
    moment,
    nullable,
    number,
    one_of,
    operation,
    or_null,
    record,
    ref,
    text,
)
from scan.api.openapi.statistics import STATISTICS_PATHS, STATISTICS_SCHEMAS
from scan.api.openapi.stream import STREAM_PATHS
from scan.api.openapi.transaction_details import DETAIL_SCHEMAS

PREFIX = "/api/v1"

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


def document(
    base_path: str = "", etherscan_actions: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Json:
    """`etherscan_actions`: the supported actions by module."""
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
            {"name": SOURCIFY_TAG, "description": "The Sourcify-compatible API.",
             "externalDocs": SOURCIFY_DOCS},
            {"name": "Webhooks", "description": "Notifications about an address."},
            {"name": ETHERSCAN_TAG, "description": "The Etherscan-compatible API.",
             "externalDocs": ETHERSCAN_DOCS},
            {"name": "Service", "description": "The state of the service; not rate limited."},
        ],
        "paths": {
            **{
                PREFIX + path: page
                for pages in (
                    *(CHAIN_PATHS, FILTERED_PATHS, HISTORY_PATHS, ITEM_PATHS, LOG_PATHS),
                    *(STATISTICS_PATHS, STREAM_PATHS, CONTRACT_PATHS, OWNER_PATHS),
                )
                for path, page in pages.items()
            },
            **etherscan_paths(etherscan_actions),
            **sourcify_paths(base_path),
            **SERVICE_PATHS,
        },
        "webhooks": EVENT_PAGES,
        "components": {
            "schemas": {
                **RECORDS, **DETAIL_SCHEMAS, **CHAIN_SCHEMAS, **FILTERED_SCHEMAS,
                **HISTORY_SCHEMAS, **ITEM_SCHEMAS, **LOG_SCHEMAS, **CONTRACT_SCHEMAS,
                **OWNER_SCHEMAS, **EVENT_SCHEMAS, **STATISTICS_SCHEMAS,
                **SERVICE_SCHEMAS, **SCALARS,
            },
            "responses": {
                **{str(status): _error(status) for status in ERRORS if status not in ALWAYS},
                "default": _error(*ALWAYS),
                **COMPATIBILITY_RESPONSES,
            },
            "parameters": {
                **PARAMETERS, **FILTER_PARAMETERS, **EVENT_PARAMETERS, **COMPATIBILITY_PARAMETERS
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


def _header(name: str) -> Json:
    description, schema, example = _HEADERS[name]
    required = name not in (*OPTIONAL_HEADERS, "Link")
    return {"description": description, "required": required, "schema": schema, "example": example}


def _service(name: str, summary: str, answers: Json) -> Json:
    return {
        "get": {
            "operationId": name,
            "tags": ["Service"],
            "summary": summary,
            "security": ANONYMOUS,
            "responses": {
                status: {
                    "description": description,
                    "headers": headers(),
                    "content": {"application/json": {"schema": schema}},
                }
                for status, (description, schema) in answers.items()
            },
        }
    }


SERVICE_PATHS: Json = {
    "/healthz": _service(
        "getHealth", "Liveness of the process", {"200": ("Alive.", ref("Health"))}
    ),
    "/readyz": _service(
        "getReadiness",
        "Readiness of the service, and its lag behind the node",
        {
            "200": ("The database responds, and its schema is current.", ref("Readiness")),
            "503": ("Not ready.", ref("Unready")),
        },
    ),
    f"{PREFIX}/openapi.json": operation(
        "get", "getDocument", "This document", {"type": "object"}, tag="Service"
    ),
}
SERVICE_SCHEMAS: Json = {
    "Error": record(
        "An error.",
        {
            "error": text("A message for people.", "limit must be 1 to 100."),
            "code": text("A code for programs.", "invalid_parameter"),
            "field": text("The invalid parameter.", "limit"),
        },
        optional=("field",),
    ),
    "Health": record("Liveness.", {"status": one_of("Constant.", ("alive",))}),
    "Backfill": record(
        "A bulk backfill that is under way; lists are empty or 503 until it is accepted.",
        {
            "stage": one_of("What it does.", ("spool", "inspect", "load", "accept")),
            "lastBlock": number("The block up to which it indexes.", 20_000_000),
            "progress": {
                "type": ["number", "null"],
                "description": "Of the whole, from 0 to 1.",
                "examples": [0.46],
            },
            "secondsLeft": nullable(number("Estimated.", 7200)),
        },
    ),
    "Readiness": record(
        "Readiness and lag.",
        {
            "status": one_of("Constant.", ("ready",)),
            "indexedBlock": nullable(number("The newest indexed block.", 353)),
            "headBlock": nullable(number("The node's newest block.", 353)),
            "lagBlocks": nullable(number("Blocks between them.", 0)),
            "problem": nullable(text("Why indexing is stopped.", "the node cannot be reached")),
            "checkedAt": nullable(moment("When the node was last checked.")),
            "chainId": nullable(number("The chain's id; null before the first block.", 1)),
            "version": text("Scan's version.", VERSION),
            "chainName": nullable(text("SCAN_CHAIN_NAME, or null.", "BNB Chain")),
            "stateReadBy": nullable(
                one_of(
                    "How the indexer reads the node's state: by block hash (EIP-1898), or by block"
                    " number if the node does not support hashes; null until it was tried.",
                    ("blockHash", "blockNumber"),
                )
            ),
            "backfill": or_null(ref("Backfill"), "Null without a bulk backfill."),
            "replicaLagBlocks": number("Blocks that the replica is behind.", 0),
        },
        optional=("replicaLagBlocks",),
    ),
    "Unready": record(
        "Not ready.",
        {
            "status": one_of("Constant.", ("unavailable",)),
            "problem": text("The reason.", "The database cannot be reached; try again shortly."),
            "error": text("The same.", "The database cannot be reached."),
            "code": one_of("The error code.", ("unavailable",)),
        },
    ),
}
