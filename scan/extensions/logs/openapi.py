"""Logs: their list, filters and record."""

from scan.api.openapi.filtered_lists import ORDERED, filters_of
from scan.api.openapi.schemas import (
    Json,
    extended,
    hash32,
    moment,
    number,
    operation,
    page_of,
    ref,
)

PATHS: Json = {
    "/logs": operation(
        "get", "listLogs", "Logs of contracts, newest first", ref("LogPage"),
        description="Ordered by (block, logIndex); all filters must match. With SCAN_LOGS=all"
        " logs are stored, with `standard` those whose topic0 is a standard event's; others are"
        " read from the node, in the blocks in which the address emitted logs. Too large"
        " requests return 503: narrow them by blockFrom and blockTo, an address or topics.",
        parameters=(*ORDERED, *filters_of("logs")),
        errors=(404, 502),
    ),
}  # fmt: skip


SCHEMAS: Json = {
    "LogPage": page_of("logs", "Log", "Logs, newest first.", "QueryTotal"),
    "Log": extended(
        "TransactionLog",
        "A log and its position.",
        {
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "transactionIndex": number("The transaction's index in the block.", 1),
            "timestamp": moment("Its block's time."),
        },
    ),
}
