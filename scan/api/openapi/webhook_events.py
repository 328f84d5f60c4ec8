"""The requests that webhooks receive: their bodies and headers."""

from collections.abc import Mapping, Sequence

from scan.api.openapi.keys_and_webhooks import TRANSFER_TOPIC
from scan.api.openapi.records import INTERNAL_TYPES, METHOD_ID
from scan.api.openapi.schemas import (
    TOKEN_EXAMPLE,
    Json,
    address,
    amount,
    array,
    extended,
    flag,
    hash32,
    hex_bytes,
    moment,
    nullable,
    number,
    one_of,
    record,
    ref,
    shared,
    text,
    token_type,
)
from scan.ethereum.blocks import MAX_TOPICS


def _event(
    name: str, description: str, fields: Mapping[str, Json], optional: Sequence[str] = ()
) -> Json:
    return record(
        description,
        {
            "event": one_of("Its type.", (name,)),
            "timestamp": moment("Its block's time."),
            "data": extended("EventData", "Its data.", fields, optional=optional),
        },
    )


_PARTIES: Json = {"from": address("The sender."), "to": address("The recipient.")}
_LOG_INDEX = number("Its log's index in the block.", 3)

SCHEMAS: Json = {
    "EventData": record(
        "Fields of all events.",
        {
            "hash": hash32("The transaction's hash."),
            "blockNumber": number("Its block.", 17),
            "methodId": METHOD_ID,
            "removed": flag("Present and true if the block was orphaned."),
        },
        optional=("methodId", "removed"),
    ),
    "TransactionEvent": _event(
        "tx",
        "A transaction of the watched address.",
        {
            "from": address("The sender."),
            "to": nullable(address("The recipient; null for a contract creation.")),
            "value": amount("In wei.", "1000000000000000000"),
            "status": flag("Whether it succeeded."),
            "contractAddress": nullable(address("The contract it created, if any.")),
        },
        optional=("status", "contractAddress"),
    ),
    "TokenTransferEvent": _event(
        "token_transfer",
        "A token transfer of the watched address.",
        {
            **_PARTIES,
            "value": amount("In the smallest unit.", "500000000000000000"),
            "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
            "tokenType": token_type("The token's standard."),
            "tokenId": nullable(amount("The item's id; null for BEP20.", "7")),
            "logIndex": _LOG_INDEX,
            "batchIndex": number("Its index in a TransferBatch, otherwise 0.", 0),
        },
    ),
    "InternalTransferEvent": _event(
        "internal_transfer",
        "An internal transfer of the watched address.",
        {
            **_PARTIES,
            "value": amount("In wei.", "1000000000000000000"),
            "transferIndex": number("Its index in the transaction.", 0),
            "type": one_of("The call's type.", INTERNAL_TYPES),
        },
    ),
    "DexTradeEvent": _event(
        "dex_trade",
        "A trade of the watched address or pool.",
        {
            "logIndex": _LOG_INDEX,
            "dex": text("The exchange.", "uniswap-v2"),
            "pairAddress": address("The pool."),
            "maker": address("The transaction's sender."),
            "tokenIn": address("The token sold.", TOKEN_EXAMPLE),
            "tokenOut": address("The token bought.", TOKEN_EXAMPLE),
            "amountIn": amount("Of tokenIn.", "1000"),
            "amountOut": amount("Of tokenOut.", "2000"),
        },
    ),
    "LogEvent": _event(
        "log",
        "A log emitted by the watched address.",
        {
            "logIndex": _LOG_INDEX,
            "transactionIndex": number("The transaction's index in the block.", 1),
            "address": address("The watched address.", TOKEN_EXAMPLE),
            "topics": array(
                hash32("A topic.", TRANSFER_TOPIC), "At most four.", maxItems=MAX_TOPICS
            ),
            "data": nullable(hex_bytes("Its data; null if dataOmitted is true.")),
            "dataOmitted": flag(
                "Present and true if data has more than 16,384 bytes and is omitted."
            ),
        },
        optional=("dataOmitted",),
    ),
}


def _header(name: str, schema: Json) -> Json:
    description = schema.pop("description")
    return {
        "name": name, "in": "header", "required": True, "description": description,
        "schema": schema,
    }  # fmt: skip


PARAMETERS: Json = {
    "event": _header("X-Scan-Event", text("The event type.", "tx")),
    "signature": _header(
        "X-Scan-Signature",
        text(
            "sha256= and the HMAC-SHA256 of the body with the secret, in lower-case hex.",
            "sha256=" + 64 * "c",
        ),
    ),
    "delivery": _header("X-Scan-Delivery", text("The delivery's id, equal in all attempts.", "17")),
    "sender": _header("User-Agent", text("Scan's webhook sender.", "Scan-Webhook/1.0")),
}

_BODIES = [name for name in SCHEMAS if name != "EventData"]
PAGES: Json = {
    "event": {
        "post": {
            "operationId": "receiveEvent",
            "tags": ["Webhooks"],
            "summary": "An event of the watched address",
            "security": [{}],
            "description": "Sent at least once; a retry has the same body and X-Scan-Delivery."
            " Compare the signature in constant time. The headers of Standard Webhooks are sent,"
            " too, with the same key.",
            "parameters": [shared(name) for name in PARAMETERS],
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {"schema": {"oneOf": [ref(name) for name in _BODIES]}}
                },
            },
            "responses": {
                "2XX": {"description": "Accepted."},
                "410": {"description": "Stops the webhook."},
                "default": {"description": "Failed; the delivery is retried."},
            },
        }
    }
}
