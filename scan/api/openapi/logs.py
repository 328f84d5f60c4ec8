"""Logs: /logs, their query filter and record, and webhooks for them."""

from scan.api.openapi.filtered_lists import ORDERED
from scan.api.openapi.schemas import (
    Json,
    any_case_address,
    any_case_hash,
    array,
    extended,
    hash32,
    moment,
    number,
    operation,
    page_of,
    query,
    ref,
)
from scan.ethereum.blocks import MAX_TOPICS
from scan.queries.logs import TOPIC_NAMES
from scan.webhooks.registration import MAX_TOPICS_PER_POSITION

_TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def _topic(index: int) -> Json:
    meaning = "the hash of the event's signature" if index == 0 else "an indexed argument"
    return any_case_hash(f"Topic {index}, {meaning}.")


LOG_FILTERS: Json = {
    "address": any_case_address("The emitting contract."),
    **{name: _topic(index) for index, name in enumerate(TOPIC_NAMES)},
}

PATHS: Json = {
    "/logs": operation(
        "get", "listLogs", "Logs of contracts, newest first", ref("LogPage"),
        description="Ordered by (block, logIndex); all filters must match. With SCAN_LOGS=all"
        " logs are stored, with `standard` those whose topic0 is a standard event's; others are"
        " read from the node, in the blocks in which the address emitted logs. Too large"
        " requests return 503: narrow them by blockFrom and blockTo, an address or topics.",
        parameters=(
            *ORDERED,
            *(query(name, dict(schema)) for name, schema in LOG_FILTERS.items())
        ),
        errors=(404, 502),
    ),
}  # fmt: skip

LOG_TOPICS = array(hash32("A topic.", _TRANSFER), "At most four.",
                maxItems=MAX_TOPICS)  # fmt: skip
_INDEX = number("Its index in the block.", 3)
_TRANSACTION_INDEX = number("The transaction's index in the block.", 1)

_TOPIC_FILTER: Json = {
    "type": ["array", "null"],
    "description": "For event type log: a filter of topics as in eth_getLogs: at each position null"
    " for any, a topic, or an array of topics of which one must match. A log with fewer topics than"
    " positions does not match.",
    "maxItems": MAX_TOPICS,
    "items": {
        "anyOf": [
            {"type": "null"},
            any_case_hash("The topic."),
            array(
                any_case_hash("A topic."), "One must match.",
                minItems=1, maxItems=MAX_TOPICS_PER_POSITION,
            ),
        ]
    },
    "examples": [[_TRANSFER, None]],
}  # fmt: skip

WANTED_TOPICS = ref("WantedTopics")
SCHEMAS: Json = {
    "WantedTopics": _TOPIC_FILTER,
    "LogPage": page_of("logs", "Log", "Logs, newest first.", "QueryTotal"),
    "Log": extended(
        "TransactionLog",
        "A log and its position.",
        {
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "transactionIndex": _TRANSACTION_INDEX,
            "timestamp": moment("Its block's time."),
        },
    ),
}
