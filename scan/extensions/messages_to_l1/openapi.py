"""The list of messages to L1, and those of a transaction."""

from scan.api.openapi.filtered_lists import list_of
from scan.api.openapi.schemas import (
    Json,
    address,
    amount,
    array,
    hash32,
    hex_bytes,
    moment,
    nullable,
    number,
    one_of,
    page_of,
    record,
    ref,
)
from scan.extensions.messages_to_l1.rows import MAX_DATA_BYTES

PATHS: Json = {
    "/messages-to-l1": list_of(
        "listMessagesToL1",
        "Messages of a rollup to L1",
        "MessageToL1Page",
        "messages_to_l1",
    ),
}
ADDED = {
    "TransactionDetail": {"messagesToL1": array(ref("MessageToL1"), "The first.", maxItems=25)}
}
SCHEMAS: Json = {
    "MessageToL1Page": page_of("messages", "MessageToL1", "Messages to L1.", "QueryTotal"),
    "MessageToL1": record(
        "Null is what its chain's messages lack.",
        {
            "hash": hash32("On L1."),
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "logIndex": number("Its log's index.", 3),
            "nonce": nullable(amount("Or position.", "7")),
            "sender": address("Who sent it."),
            "target": nullable(address("On L1.")),
            "value": nullable(amount("In wei.", "1")),
            "gasLimit": nullable(amount("On L1.", "1")),
            "data": nullable(hex_bytes(f"Null above {MAX_DATA_BYTES:,} bytes.")),
            "dataSize": number("In bytes.", 0),
            "state": one_of("L1 alone knows more.", ("initiated",)),
            "timestamp": moment("Its block's time."),
        },
    ),
}
