"""The API as an OpenAPI 3.1 document; tests hold it and the code to each other."""

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
from scan.api.openapi.items import ITEM_PATHS, ITEM_SCHEMAS
from scan.api.openapi.logs import LOG_PATHS, LOG_SCHEMAS
from scan.api.openapi.owners import (
    EVENT_PAGES,
    EVENT_PARAMETERS,
    EVENT_RESPONSES,
    OWNER_PATHS,
    OWNER_SCHEMAS,
)
from scan.api.openapi.parameters import PARAMETERS
from scan.api.openapi.records import RECORDS
from scan.api.openapi.schemas import (
    ERRORS,
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
    record,
    ref,
    text,
)
from scan.api.openapi.stream import STREAM_PATHS
from scan.api.openapi.transaction_details import DETAIL_SCHEMAS

PREFIX = "/api/v1"

DESCRIPTION = """\
Blocks, transactions, tokens, transfers and trades of an EVM chain; verified contracts and read-only
calls to them; API keys and signed webhooks.

- Amounts, gas and supplies are decimal integers in text, since JSON numbers end at 53 bits. Block
  numbers and counts are numbers. Times are ISO 8601 in UTC. Addresses and hashes are accepted in
  any letter case and returned in lower case.
- A client without a key has a limit by its address, a key in `X-API-Key` has a higher one; every
  answer tells both limit and rest.
- Errors are `{"error": sentence, "code": slug}`, with `field` where one is to blame. A path that
  does not exist answers 404, another method 405 with `Allow`.
- An unknown query parameter is refused; names that begin with `_` are ignored.
- An answer about the chain has `X-Scan-Block`: nothing in it is of a later block. Sent as
  `X-Scan-At-Least-Block` with other requests, also to another instance, it keeps them from being
  answered by an older index.
- HEAD works where GET does. OPTIONS works everywhere, and any origin may ask.
"""

_HEADERS: Json = {
    "X-RateLimit-Limit": ("How many requests the limit allows.", {"type": "integer"}, 10),
    "X-RateLimit-Remaining": ("How many are left of them.", {"type": "integer"}, 9),
    "X-RateLimit-Reset": ("Unix seconds at which the limit is whole again.",
                          {"type": "integer"}, 1767225660),
    "Retry-After": ("Seconds to wait before asking again.", {"type": "integer"}, 5),
    "X-Request-Id": ("Names this request in the log; a client's own is kept.",
                     {"type": "string"}, "5f3a9c0d1e2b4a67"),
    "X-Scan-Block": ("The newest block that an answer about the chain can show.",
                     {"type": "integer"}, 353),
}  # fmt: skip


def document(
    base_path: str = "", etherscan_actions: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Json:
    """`etherscan_actions` are those offered, by module."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Scan",
            "version": VERSION,
            "summary": "A block explorer's REST API",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_path or "/", "description": "Where this document comes from."}],
        # An operation that needs a key says so itself.
        "security": [{}, {"ApiKey": []}, {"Bearer": []}],
        "tags": [
            {"name": "Chain", "description": "What the chain says."},
            {"name": "Contracts", "description": "Sources of contracts, and calls to them."},
            {"name": "API keys", "description": "Higher limits, for whoever owns an address."},
            {"name": SOURCIFY_TAG, "description": "Verification and lookups in Sourcify's form.",
             "externalDocs": SOURCIFY_DOCS},
            {"name": "Webhooks", "description": "Being told, instead of asking."},
            {"name": ETHERSCAN_TAG, "description": "For tools that speak it.",
             "externalDocs": ETHERSCAN_DOCS},
            {"name": "Service", "description": "How the service fares; without limits."},
        ],
        "paths": {
            **{
                PREFIX + path: page
                for pages in (
                    CHAIN_PATHS, ITEM_PATHS, LOG_PATHS, STREAM_PATHS, CONTRACT_PATHS, OWNER_PATHS
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
                **RECORDS, **DETAIL_SCHEMAS, **CHAIN_SCHEMAS, **ITEM_SCHEMAS, **LOG_SCHEMAS,
                **CONTRACT_SCHEMAS, **OWNER_SCHEMAS,
                **SERVICE_SCHEMAS, **SCALARS,
            },
            "responses": {
                **{str(status): _error(status) for status in ERRORS},
                **COMPATIBILITY_RESPONSES,
                **EVENT_RESPONSES,
            },
            "parameters": {**PARAMETERS, **EVENT_PARAMETERS, **COMPATIBILITY_PARAMETERS},
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


def _error(status: int) -> Json:
    description, codes = ERRORS[status]
    names = (*RATE_HEADERS, "Retry-After") if status in (429, 502, 503) else RATE_HEADERS
    code = {"description": "Which fault.", "enum": [*codes]}
    schema = {"allOf": [ref("Error"), {"properties": {"code": code}}]}
    return {
        "description": description,
        "headers": headers(*names),
        "content": {"application/json": {"schema": schema}},
    }


def _header(name: str) -> Json:
    description, schema, example = _HEADERS[name]
    required = name not in OPTIONAL_HEADERS
    return {"description": description, "required": required, "schema": schema, "example": example}


def _service(name: str, summary: str, answers: Json) -> Json:
    return {
        "get": {
            "operationId": name,
            "tags": ["Service"],
            "summary": summary,
            "security": [{}],
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
        "getHealth", "Whether the process lives", {"200": ("It does.", ref("Health"))}
    ),
    "/readyz": _service(
        "getReadiness",
        "Whether it can serve, and how far behind the node it is",
        {
            "200": ("The database answers, and its schema is current.", ref("Readiness")),
            "503": ("It cannot serve.", ref("Unready")),
        },
    ),
    f"{PREFIX}/openapi.json": {
        "get": {
            **operation("getDocument", "Service", "This document", {"type": "object"}),
            "parameters": [],  # it shows no block
        },
    },
}
SERVICE_SCHEMAS: Json = {
    "Error": record(
        "What went wrong.",
        {
            "error": text("A sentence a person can act on.", "limit must be 1 to 100."),
            "code": text("A word a program can act on.", "invalid_parameter"),
            "field": text("The parameter to blame.", "limit"),
        },
        optional=("field",),
    ),
    "Health": record("It lives.", {"status": one_of("Always the same.", ("alive",))}),
    "Readiness": record(
        "How far it has come.",
        {
            "status": one_of("Always the same.", ("ready",)),
            "indexedBlock": nullable(number("The newest block indexed.", 353)),
            "headBlock": nullable(number("The newest block the node has told.", 353)),
            "lagBlocks": nullable(number("The blocks between them.", 0)),
            "problem": nullable(text("Why the head stands still.", "the node cannot be reached")),
            "checkedAt": nullable(moment("When the node was last asked.")),
            "chainId": nullable(number("The chain's id; null before the first block.", 1)),
            "version": text("The release of Scan that answers.", VERSION),
            "chainName": nullable(text("SCAN_CHAIN_NAME, where it is set.", "BNB Chain")),
            "stateReadBy": nullable(
                one_of(
                    "How the indexer reads state of the node: by block hash (EIP-1898), or by block"
                    " number and checked, where the node takes no hashes; null until it was tried.",
                    ("blockHash", "blockNumber"),
                )
            ),
            "replicaLagBlocks": number("Blocks that the replica read here lacks.", 0),
        },
        optional=("replicaLagBlocks",),
    ),
    "Unready": record(
        "Why it cannot serve.",
        {
            "status": one_of("Always the same.", ("unavailable",)),
            "problem": text("Why.", "The database cannot be reached; try again shortly."),
            "error": text("The same, as in every error.", "The database cannot be reached."),
            "code": one_of("Which fault.", ("unavailable",)),
        },
    ),
}
