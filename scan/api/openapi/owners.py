"""What belongs to owners of addresses: /keys and /webhooks, and the bodies that webhooks get."""

from scan.accounts.api_keys import MAX_ACTIVE_KEYS, MAX_LABEL_CHARACTERS
from scan.api.openapi.logs import WANTED_TOPICS
from scan.api.openapi.records import METHOD_ID
from scan.api.openapi.schemas import (
    ADDRESS_EXAMPLE,
    LIMIT,
    OWNER,
    PAGE,
    TOKEN_EXAMPLE,
    WEBHOOK,
    Json,
    address,
    amount,
    any_case_address,
    array,
    flag,
    form,
    hash32,
    identifier,
    moment,
    nullable,
    number,
    one_of,
    operation,
    page_of,
    path,
    record,
    ref,
    sends,
    shared,
    text,
    token_type,
)
from scan.ethereum.traces import TransferType
from scan.webhooks.registration import (
    EVENT_TYPES,
    MAX_PER_CLIENT,
    MAX_PER_OWNER,
    MAX_PER_WATCH_ADDRESS,
)
from scan.webhooks.urls import MAX_URL_CHARACTERS, PORTS

KEYS, WEBHOOKS = "API keys", "Webhooks"
STATUSES = ("pending", "delivered", "failed", "cancelled")
_SIGNED = "signed with the wallet's personal message signing"

_WEBHOOK_ERRORS = (401, 403, 404)


_DELIVERY = path("delivery_id", identifier("The delivery's id."))

OWNER_PATHS: Json = {
    "/keys": {
        "get": operation(
            "listKeys", KEYS, "The keys of an owner", ref("KeyList"), parameters=(OWNER,),
            description="Keys are named by their prefixes. With SCAN_OWNER_AUTH=always the"
            " request needs a key of that owner.",
            errors=(403,),
        ),
        "post": operation(
            "createKey", KEYS, "Get a key for an address", ref("CreatedKey"), status=201,
            description="The owner signs three lines joined by a line feed, `Scan API Key Request`,"
            " `Address: <ownerAddress in lower case>` and `Timestamp: <Unix milliseconds>`, with"
            " personal message signing (EIP-191), or as a contract wallet (ERC-1271). A timestamp"
            f" is accepted once, for five minutes. An owner has at most {MAX_ACTIVE_KEYS} active"
            " keys (409); new keys of a client address are limited too, by default to 20 a day (429"
            " with Retry-After). Send the key as `X-API-Key` or as `Authorization: Bearer scan_…`.",
            body=sends(
                ref("KeyRequest"),
                request={
                    "ownerAddress": ADDRESS_EXAMPLE,
                    "label": "my dashboard",
                    "signature": "0x" + 65 * "1b",
                    "timestamp": 1767225600000,
                },
            ),
            errors=(403, 409, 502),
        ),
    },
    "/keys/{key_id}": {
        "delete": operation(
            "deleteKey", KEYS, "Delete a key", ref("Deleted"),
            description="With any key of the same owner, which may be the same one."
            " The address stays claimed when its last key is deleted.",
            parameters=(path("key_id", identifier("The key's id.")),), errors=(404,),
            needs_key=True,
        ),
    },
    "/webhooks": {
        "get": operation(
            "listWebhooks", WEBHOOKS, "The webhooks of an owner", ref("WebhookList"),
            description="Where the owner has ever had an API key, the"
            " request needs one of its active keys.",
            parameters=(OWNER,), errors=(403,),
        ),
        "post": operation(
            "createWebhook", WEBHOOKS, "Register a webhook for the events of an address",
            ref("CreatedWebhook"),
            description="Where the owner has ever had an API key, the request needs one of its"
            " active keys. At most"
            f" {MAX_PER_OWNER} webhooks of an owner, {MAX_PER_WATCH_ADDRESS} for a watched address"
            f" and {MAX_PER_CLIENT} of a client that sends no key of the owner are active at once"
            " (409).",
            status=201, errors=(403, 409),
            body=sends(
                ref("WebhookRequest"),
                all={
                    "ownerAddress": ADDRESS_EXAMPLE,
                    "url": "https://hooks.example.com/scan",
                    "watchAddress": ADDRESS_EXAMPLE,
                    "eventTypes": [*EVENT_TYPES],
                },
            ),
        ),
    },
    "/webhooks/{webhook_id}": {
        "delete": operation(
            "deleteWebhook", WEBHOOKS, "Delete a webhook", ref("Deleted"),
            parameters=(WEBHOOK,), errors=_WEBHOOK_ERRORS,
        ),
        "patch": operation(
            "changeWebhook", WEBHOOKS, "Stop a webhook, or activate one that was stopped",
            ref("Webhook"), parameters=(WEBHOOK,), errors=(*_WEBHOOK_ERRORS, 409),
            body=sends(ref("WebhookChange"), start={"active": True}),
        ),
    },
    "/webhooks/{webhook_id}/deliveries": {
        "get": operation(
            "listDeliveries", WEBHOOKS, "What a webhook was sent, newest first",
            ref("DeliveryPage"), parameters=(WEBHOOK, PAGE, LIMIT), errors=_WEBHOOK_ERRORS,
        ),
    },
    "/webhooks/{webhook_id}/test": {
        "post": operation(
            "testWebhook", WEBHOOKS, "Send a test event", ref("TestSent"), status=201,
            parameters=(WEBHOOK,), errors=_WEBHOOK_ERRORS,
        ),
    },
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/retry": {
        "post": operation(
            "retryDelivery", WEBHOOKS, "Send a delivery again", ref("Retried"), status=202,
            parameters=(WEBHOOK, _DELIVERY), errors=_WEBHOOK_ERRORS,
        ),
    },
}  # fmt: skip

OWNER_SCHEMAS: Json = {
    "Key": record(
        "An API key, without the key itself.",
        {
            "id": identifier("Its id."),
            "keyPrefix": text("Its first 12 characters.", "scan_1a2b3c4"),
            "label": text("Its owner's name for it; may be empty.", "my dashboard"),
            "requestsPerMinute": number("Its limit.", 100),
            "totalRequests": number("Requests made with it.", 1234),
            "createdAt": moment("When it was made."),
            "lastUsedAt": moment("When it was last used; createdAt before the first use."),
            "active": flag("Whether it is accepted; false once it was deleted."),
        },
    ),
    "KeyList": record(
        "The keys of an owner.",
        {"keys": array(ref("Key"), "Active ones first, then deleted ones; newest first.")},
    ),
    "KeyRequest": record(
        "A signed request for a key.",
        {
            "ownerAddress": any_case_address("Whose key it will be."),
            "label": text("What to call it.", "my dashboard", maxLength=MAX_LABEL_CHARACTERS),
            "signature": text(f"The message, {_SIGNED}.", "0x" + 65 * "1b", pattern="^0[xX]"),
            "timestamp": number("Unix milliseconds, as signed.", 1767225600000),
        },
        optional=("label",),
    ),
    "CreatedKey": record(
        "A new key.",
        {
            "id": identifier("Its id."),
            "key": text(
                "The key, shown only here.", "scan_" + 64 * "a", pattern="^scan_[0-9a-f]{64}$"
            ),
            "keyPrefix": text("Its first 12 characters, to recognise it.", "scan_aaaaaaa"),
            "message": text("What to do with it.", "Keep this key now: it is shown only here."),
        },
    ),
    "Deleted": record(
        "What was deleted.", {"success": flag("True."), "id": identifier("Its id.")}
    ),
    "Webhook": record(
        "A webhook, without its secret.",
        {
            "id": identifier("Its id."),
            "url": text("Where events go.", "https://hooks.example.com/scan"),
            "watchAddress": address("Whose events."),
            "eventTypes": array(one_of("An event.", EVENT_TYPES), "Which events."),
            "active": flag("Whether events are sent to it."),
            "createdAt": moment("When it was made."),
            "lastTriggeredAt": nullable(moment("The last attempt.")),
            "failCount": number("Failed attempts since the last success.", 0),
            "stoppedReason": nullable(
                text("Why the service stopped it; null where it did not.",
                     "its queue held 10,000 undelivered events")
            ),
            "topics": WANTED_TOPICS,
        },
    ),
    "WebhookList": record(
        "The webhooks of an owner.",
        {"webhooks": array(ref("Webhook"), "All of them, oldest first.")},
    ),
    "WebhookRequest": form(
        "Which events to send, and where.",
        {
            "ownerAddress": any_case_address("Whose webhook it will be."),
            "url": text(
                f"A public https address that answers 2xx, on port {' or '.join(map(str, PORTS))}.",
                "https://hooks.example.com/scan", maxLength=MAX_URL_CHARACTERS,
            ),
            "watchAddress": {
                **nullable(any_case_address("Whose events; the owner's where absent.")),
            },
            "eventTypes": {
                **nullable(array(one_of("An event.", EVENT_TYPES), "Which events.",
                           minItems=1, uniqueItems=True)),
                "default": ["tx"],
            },
            "topics": WANTED_TOPICS,
        },
        ("ownerAddress", "url"),
    ),
    "WebhookChange": form(
        "The new state.", {"active": flag("Whether events are sent to it.")}, ("active",)
    ),
    "CreatedWebhook": record(
        "A new webhook.",
        {
            "id": identifier("Its id."),
            "secret": text("The key of X-Scan-Signature, shown only here.", 64 * "b"),
            "message": text("What to do with it.", "Keep this secret now: it is shown only here."),
        },
    ),
    "Delivery": record(
        "An event on its way to a webhook.",
        {
            "id": identifier("Its id, sent as X-Scan-Delivery."),
            "event": one_of("The event.", EVENT_TYPES),
            "blockNumber": nullable(number("Its block.", 17)),
            "status": one_of("Its state.", STATUSES),
            "responseCode": nullable(number("What the receiver last answered.", 200)),
            "error": nullable(
                text("Why the last attempt got no response.", "the receiver did not answer")
            ),
            "attempts": number("Attempts so far.", 1),
            "createdAt": moment("When the event was indexed."),
            "lastAttemptAt": nullable(moment("The last attempt.")),
            "nextAttemptAt": nullable(moment("The next attempt.")),
            "payload": {"type": "object", "description": "The body that is sent."},
        },
    ),
    "DeliveryPage": page_of("deliveries", "Delivery", "Deliveries, newest first."),
    "TestSent": record(
        "A test event is on its way.",
        {
            "deliveryId": identifier("Its delivery."),
            "message": text("Where to see how it went.", "A test event is on its way."),
        },
    ),
    "Retried": record(
        "It will be sent again.", {"success": flag("True."), "deliveryId": identifier("Its id.")}
    ),
    "TransactionEvent": record(
        "A transaction of the watched address.",
        {
            "event": one_of("The event.", ("tx",)),
            "timestamp": moment("When its block was made."),
            "data": record(
                "The transaction.",
                {
                    "hash": hash32("Its hash."),
                    "from": address("The sender."),
                    "to": nullable(address("The recipient; null where a contract is created.")),
                    "value": amount("Its value, in wei.", "1000000000000000000"),
                    "blockNumber": number("Its block.", 17),
                    "status": flag("Whether it succeeded."),
                    "contractAddress": nullable(address("The contract it created, if any.")),
                    "methodId": METHOD_ID,
                    "removed": flag("Present and true where the block was orphaned."),
                },
                optional=("status", "contractAddress", "methodId", "removed"),
            ),
        },
    ),
    "TokenTransferEvent": record(
        "A token transfer of the watched address.",
        {
            "event": one_of("The event.", ("token_transfer",)),
            "timestamp": moment("When its block was made."),
            "data": record(
                "The transfer.",
                {
                    "hash": hash32("The transaction's hash."),
                    "from": address("The sender."),
                    "to": address("The recipient."),
                    "value": amount("The amount, in the smallest unit.", "500000000000000000"),
                    "blockNumber": number("Its block.", 17),
                    "tokenAddress": address("The token's contract.", TOKEN_EXAMPLE),
                    "tokenType": token_type("The standard the token follows."),
                    "tokenId": nullable(amount("The token's id; null for a BEP20.", "7")),
                    "logIndex": number("Its log's index in the block.", 3),
                    "batchIndex": number("Its index in a TransferBatch, else 0.", 0),
                    "methodId": METHOD_ID,
                    "removed": flag("Present and true where the block was orphaned."),
                },
                optional=("methodId", "removed"),
            ),
        },
    ),
    "InternalTransferEvent": record(
        "An internal transfer of the watched address.",
        {
            "event": one_of("The event.", ("internal_transfer",)),
            "timestamp": moment("When its block was made."),
            "data": record(
                "The transfer.",
                {
                    "hash": hash32("The transaction's hash."),
                    "from": address("The sender."),
                    "to": address("The recipient."),
                    "value": amount("In wei.", "1000000000000000000"),
                    "blockNumber": number("Its block.", 17),
                    "transferIndex": number("Its index in the transaction.", 0),
                    "type": one_of("How.", tuple(t.name.lower() for t in TransferType)),
                    "methodId": METHOD_ID,
                    "removed": flag("Present and true where the block was orphaned."),
                },
                optional=("methodId", "removed"),
            ),
        },
    ),
    "DexTradeEvent": record(
        "A trade by the watched address, or in the watched pool.",
        {
            "event": one_of("The event.", ("dex_trade",)),
            "timestamp": moment("When its block was made."),
            "data": record(
                "The trade.",
                {
                    "hash": hash32("The transaction's hash."),
                    "blockNumber": number("Its block.", 17),
                    "logIndex": number("Its log's index in the block.", 3),
                    "dex": text("The exchange.", "uniswap-v2"),
                    "pairAddress": address("The pool."),
                    "maker": address("The transaction's sender."),
                    "tokenIn": address("What was sold.", TOKEN_EXAMPLE),
                    "tokenOut": address("What was bought.", TOKEN_EXAMPLE),
                    "amountIn": amount("Of tokenIn.", "1000"),
                    "amountOut": amount("Of tokenOut.", "2000"),
                    "methodId": METHOD_ID,
                    "removed": flag("Present and true where the block was orphaned."),
                },
                optional=("methodId", "removed"),
            ),
        },
    ),
}  # fmt: skip


def _header(name: str, schema: Json) -> Json:
    description = schema.pop("description")
    return {
        "name": name, "in": "header", "required": True, "description": description,
        "schema": schema,
    }  # fmt: skip


EVENT_PARAMETERS: Json = {
    "event": _header("X-Scan-Event", one_of("The event.", EVENT_TYPES)),
    "signature": _header(
        "X-Scan-Signature",
        text(
            "sha256= and the lower-case hex HMAC-SHA256 of the body's bytes under the secret, to be"
            " compared in constant time. Webhook-Id, -Timestamp and -Signature are those of Standard"
            " Webhooks, with the same key.",
            "sha256=" + 64 * "c",
        ),
    ),
    "delivery": _header("X-Scan-Delivery", text("The same in every attempt, as the body.", "17")),
    "sender": _header("User-Agent", text("Who sends.", "Scan-Webhook/1.0")),
}


EVENT_RESPONSES: Json = {
    "accepted": {"description": "Accepted."},
    "gone": {"description": "The webhook is stopped."},
    "refused": {"description": "Not accepted: it will be sent again."},
}


def _event(schema: str, summary: str) -> Json:
    answers = {"2XX": "accepted", "410": "gone", "default": "refused"}
    return {
        "post": {
            "operationId": f"receive{schema}",
            "tags": [WEBHOOKS],
            "summary": summary,
            "security": [{}],
            "parameters": [shared(name) for name in EVENT_PARAMETERS],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": ref(schema)}},
            },
            "responses": {
                status: {"$ref": f"#/components/responses/{name}"}
                for status, name in answers.items()
            },
        }
    }


EVENT_PAGES: Json = {
    "tx": _event("TransactionEvent", "A transaction of the watched address"),
    "token_transfer": _event("TokenTransferEvent", "A token transfer of the watched address"),
    "internal_transfer": _event(
        "InternalTransferEvent", "An internal transfer of the watched address"
    ),
    "dex_trade": _event("DexTradeEvent", "A trade of the watched address or pool"),
    "log": _event("LogEvent", "A log that the watched address emitted"),
}
