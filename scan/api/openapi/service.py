"""The service's own state: /healthz, /readyz and the document; the schema of errors."""

from scan import VERSION
from scan.api.openapi.schemas import (
    ANONYMOUS,
    Json,
    array,
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
from scan.http.interfaces import API


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


PATHS: Json = {
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
    f"{API}/openapi.json": operation(
        "get", "getDocument", "This document", {"type": "object"}, tag="Service"
    ),
}
SCHEMAS: Json = {
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
            "firstBlock": nullable(number("At which the index begins.", 0)),
            "headBlock": nullable(number("The node's newest block.", 353)),
            "lagBlocks": nullable(number("Blocks between them.", 0)),
            "problem": nullable(
                text(
                    "Why indexing is stopped. Where a block contradicts its hash: its number, and"
                    " what disagrees.",
                    "the node cannot be reached",
                )
            ),
            "checkedAt": nullable(moment("When the node was last checked.")),
            "newestBlockAt": nullable(moment("The time of the newest indexed block.")),
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
            "unproven": array(ref("Unproven"), "What no hash proves; empty where all is proven."),
            "replicaLagBlocks": number("Blocks that the replica is behind.", 0),
        },
        optional=("replicaLagBlocks",),
    ),
    "Unproven": record(
        "Blocks of which no hash proves some part.",
        {
            "firstBlock": number("The first of them.", 300),
            "lastBlock": number("The last of them; some between may be proven.", 353),
            "reason": text("What is not proven, and what helps.", "transactions of type 6"),
        },
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
