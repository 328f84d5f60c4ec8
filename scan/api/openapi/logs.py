"""Logs: /logs, their query and record, and what a webhook for them asks for and gets."""

from scan.api.openapi.filtered import ORDERED
from scan.api.openapi.records import METHOD_ID
from scan.api.openapi.schemas import (
    TOKEN_EXAMPLE,
    Json,
    address,
    any_case_address,
    any_case_hash,
    array,
    extended,
    flag,
    hash32,
    hex_bytes,
    moment,
    nullable,
    number,
    one_of,
    operation,
    page_of,
    query,
    record,
    ref,
)
from scan.ethereum.log_filter import TOPICS
from scan.queries.logs import TOPIC_NAMES
from scan.webhooks.registration import MAX_TOPICS_PER_POSITION

_TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def _topic(index: int) -> Json:
    what = "the hash of the event's signature" if index == 0 else "an indexed argument"
    return any_case_hash(f"Topic {index}, {what}.")


LOG_FILTERS: Json = {
    "address": any_case_address("The contract that emitted it."),
    **{name: _topic(index) for index, name in enumerate(TOPIC_NAMES)},
}

LOG_PATHS: Json = {
    "/logs": {
        "get": operation(
            "listLogs", "Chain", "Logs of contracts, newest first", ref("LogPage"),
            description="Ordered by (block, logIndex); they match all that is given. An index with"
            " SCAN_LOGS=all answers from its own rows, one with `standard`"
            " where topic0 is of a standard event; others ask the node, in the blocks in which the"
            " address emitted something. What is too much to ask for in one request is answered"
            " 503: narrow it by blockFrom and blockTo, an address or topics.",
            parameters=(
                *ORDERED,
                *(query(name, dict(schema)) for name, schema in LOG_FILTERS.items())
            ),
            errors=(404, 502),
        ),
    },
}  # fmt: skip

_TOPICS = array(hash32("A topic.", _TRANSFER), "At most four; none of an anonymous event.",
                maxItems=TOPICS)  # fmt: skip
_INDEX = number("Its index in the block.", 3)
_TRANSACTION_INDEX = number("The transaction's index in the block.", 1)

_WANTED_TOPICS: Json = {
    "type": ["array", "null"],
    "description": "With event type log: which topics its logs must have, at each position as"
    " eth_getLogs takes them: null for any, a topic, or several of which one must match. A log"
    " with fewer topics than there are positions does not match.",
    "maxItems": TOPICS,
    "items": {
        "anyOf": [
            {"type": "null"},
            any_case_hash("The topic."),
            array(
                any_case_hash("A topic."), "Any of these.",
                minItems=1, maxItems=MAX_TOPICS_PER_POSITION,
            ),
        ]
    },
    "examples": [[_TRANSFER, None]],
}  # fmt: skip

WANTED_TOPICS = ref("WantedTopics")
LOG_SCHEMAS: Json = {
    "WantedTopics": _WANTED_TOPICS,
    "LogPage": page_of("logs", "Log", "Logs, newest first."),
    "Log": extended(
        "TransactionLog",
        "A log that a contract emitted.",
        {
            "transactionHash": hash32("The transaction it was emitted in."),
            "blockNumber": number("The block it was emitted in.", 17),
            "transactionIndex": _TRANSACTION_INDEX,
            "timestamp": moment("When its block was made."),
        },
    ),
    "LogEvent": record(
        "A log that the watched address emitted.",
        {
            "event": one_of("The event.", ("log",)),
            "timestamp": moment("When its block was made."),
            "data": record(
                "The log.",
                {
                    "hash": hash32("The transaction's hash."),
                    "blockNumber": number("Its block.", 17),
                    "logIndex": _INDEX,
                    "transactionIndex": _TRANSACTION_INDEX,
                    "address": address("The watched address.", TOKEN_EXAMPLE),
                    "topics": _TOPICS,
                    "data": nullable(
                        hex_bytes("What is not in topics; null where dataOmitted is true.")
                    ),
                    "methodId": METHOD_ID,
                    "dataOmitted": flag(
                        "Present and true where data has more than 16,384 bytes and is left out."
                    ),
                    "removed": flag("Present and true where the block was orphaned."),
                },
                optional=("dataOmitted", "removed"),
            ),
        },
    ),
}
