"""The lists of requests to the consensus layer, and what a block has of them."""

from scan.api.openapi.filtered_lists import BLOCK, list_of
from scan.api.openapi.schemas import (
    Json,
    address,
    amount,
    array,
    hash32,
    moment,
    nullable,
    number,
    one_of,
    operation,
    page_of,
    record,
    ref,
    text,
)
from scan.extensions.execution_requests.rows import TYPES

PATHS: Json = {
    "/execution-requests": list_of(
        "listExecutionRequests", "Requests to the consensus layer, as they were submitted",
        "ExecutionRequestPage", "execution_requests",
    ),
    "/blocks/{block}/execution-requests": operation(
        "get", "listBlockExecutionRequests", "Requests to the consensus layer that a block took",
        ref("BlockRequests"), parameters=(BLOCK,), errors=(404,),
    ),
}  # fmt: skip
ADDED = {
    "BlockDetail": {
        "requestsHash": hash32("Of its requests to the consensus layer; absent without any."),
        "requestCount": number("Requests that its transactions submitted; absent as above.", 2),
    }
}
SCHEMAS: Json = {
    "ExecutionRequestPage": page_of(
        "requests", "ExecutionRequest", "Requests to the consensus layer.", "QueryTotal"
    ),
    "ExecutionRequest": record(
        "A request to the consensus layer (EIP-7685) that a transaction submitted.",
        {
            "type": one_of("Its type.", [*TYPES]),
            "transactionHash": hash32("The transaction that submitted it."),
            "blockNumber": number("The transaction's block.", 17),
            "transactionIndex": number("The transaction's place in the block.", 0),
            "logIndex": number("The log that submitted it.", 3),
            "timestamp": moment("The block's time."),
            "address": nullable(
                address("Who submitted it; of deposits where withdrawals go to, null: no address.")
            ),
            "pubkey": text(
                "Of the validator or builder; of a consolidation its source's.", "0xa1…"
            ),
            "amount": nullable(
                amount("In wei; of a withdrawal 0 is the exit.", "32000000000000000000")
            ),
            "withdrawalCredentials": nullable(hash32("Of a deposit, also of a builder.")),
            "signature": nullable(text("As withdrawalCredentials.", "0xb2…")),
            "depositIndex": nullable(number("Of a validator's deposit.", 7)),
            "targetPubkey": nullable(text("Of a consolidation.", "0xc3…")),
        },
    ),
    "BlockRequests": record(
        "The requests to the consensus layer that a block took.",
        {
            "blockNumber": number("The block.", 17),
            "requestsHash": nullable(hash32("Of the header; null before EIP-7685.")),
            "requests": nullable(
                array(
                    ref("ExecutionRequest"),
                    "In the protocol's order; null: none"
                    " that were submitted have the header's hash.",
                )
            ),
        },
    ),
}
