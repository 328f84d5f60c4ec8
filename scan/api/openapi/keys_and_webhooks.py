"""API keys and webhooks: /keys, /webhooks, and the bodies of webhook requests."""

from scan.accounts.api_keys import MAX_ACTIVE_KEYS, MAX_LABEL_CHARACTERS
from scan.api.openapi.schemas import (
    ADDRESS_EXAMPLE,
    OWNER,
    PAGED,
    WEBHOOK,
    Json,
    address,
    any_case_address,
    any_case_hash,
    array,
    flag,
    form,
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
    text,
)
from scan.ethereum.blocks import MAX_TOPICS
from scan.outbound.urls import MAX_URL_CHARACTERS, PORTS
from scan.webhooks.registration import (
    EVENT_TYPES,
    MAX_PER_CLIENT,
    MAX_PER_OWNER,
    MAX_PER_WATCH_ADDRESS,
    MAX_TOPICS_PER_POSITION,
)

KEYS, WEBHOOKS = "API keys", "Webhooks"
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
STATUSES = ("pending", "delivered", "failed", "cancelled")

_WEBHOOK_ERRORS = (401, 403, 404)


_DELIVERY = path("delivery_id", identifier("The delivery's id."))

PATHS: Json = {
    "/keys": operation(
        "get", "listKeys", "An owner's keys", ref("KeyList"), parameters=(OWNER,), tag=KEYS,
        description="Only prefixes are shown. With SCAN_OWNER_AUTH=always the request needs a"
        " key of that owner.",
        errors=(403,), may_need_key=True,
    ) | operation(
        "post", "createKey", "Create a key for an address", ref("CreatedKey"), status=201, tag=KEYS,
        description="The owner signs three lines separated by a line feed, `Scan API Key"
        " Request`, `Address: <ownerAddress in lower case>` and `Timestamp: <Unix"
        " milliseconds>`, as a personal message (EIP-191) or as a contract wallet (ERC-1271). A"
        f" timestamp is accepted once, for five minutes. An owner has at most {MAX_ACTIVE_KEYS}"
        " active"
        " keys (409); a client address may create 20 a day by default (429 with Retry-After)."
        " Send the key as `X-API-Key` or `Authorization: Bearer scan_…`.",
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
    "/keys/{key_id}": operation(
        "delete", "deleteKey", "Delete a key", ref("Deleted"), tag=KEYS,
        description="Needs a key of the same owner, which may be the deleted key itself. The"
        " address stays claimed when its last key is deleted.",
        parameters=(path("key_id", identifier("The key's id.")),), errors=(404,),
        needs_key=True,
    ),
    "/webhooks": operation(
        "get", "listWebhooks", "An owner's webhooks", ref("WebhookList"), tag=WEBHOOKS,
        description="Needs a key of the owner if it has ever had one.",
        parameters=(OWNER,), errors=(403,), may_need_key=True,
    ) | operation(
        "post", "createWebhook", "Register a webhook for the events of an address",
        ref("CreatedWebhook"), tag=WEBHOOKS,
        description="Needs a key of the owner if it has ever had one. Limits of active webhooks"
        f" (409): {MAX_PER_OWNER} per owner, {MAX_PER_WATCH_ADDRESS} per watched address, and"
        f" {MAX_PER_CLIENT} per client address without a key of the owner.",
        status=201, errors=(403, 409), may_need_key=True,
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
    "/webhooks/{webhook_id}": operation(
        "delete", "deleteWebhook", "Delete a webhook", ref("Deleted"), tag=WEBHOOKS,
        parameters=(WEBHOOK,), errors=_WEBHOOK_ERRORS, may_need_key=True,
    ) | operation(
        "patch", "changeWebhook", "Stop or activate a webhook",
        ref("Webhook"), parameters=(WEBHOOK,), errors=(*_WEBHOOK_ERRORS, 409), tag=WEBHOOKS,
        may_need_key=True, body=sends(ref("WebhookChange"), start={"active": True}),
    ),
    "/webhooks/{webhook_id}/deliveries": operation(
        "get", "listDeliveries", "A webhook's deliveries, newest first",
        ref("DeliveryPage"), parameters=(WEBHOOK, *PAGED), errors=_WEBHOOK_ERRORS, tag=WEBHOOKS,
        may_need_key=True,
    ),
    "/webhooks/{webhook_id}/test": operation(
        "post", "testWebhook", "Send a test event", ref("TestSent"), status=201, tag=WEBHOOKS,
        parameters=(WEBHOOK,), errors=_WEBHOOK_ERRORS, may_need_key=True,
    ),
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/retry": operation(
        "post", "retryDelivery", "Send a delivery again", ref("Retried"), status=202, tag=WEBHOOKS,
        parameters=(WEBHOOK, _DELIVERY), errors=_WEBHOOK_ERRORS, may_need_key=True,
    ),
}  # fmt: skip

_WANTED_TOPICS: Json = {
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
    "examples": [[TRANSFER_TOPIC, None]],
}  # fmt: skip

SCHEMAS: Json = {
    "WantedTopics": _WANTED_TOPICS,
    "Key": record(
        "An API key, without the key itself.",
        {
            "id": identifier("Its id."),
            "keyPrefix": text("Its first 12 characters.", "scan_1a2b3c4"),
            "label": text("Its label; may be empty.", "my dashboard"),
            "requestsPerMinute": number("Its limit.", 100),
            "totalRequests": number("Requests made with it.", 1234),
            "createdAt": moment("Creation time."),
            "lastUsedAt": moment("Last use; createdAt before the first."),
            "active": flag("False if deleted."),
        },
    ),
    "KeyList": record(
        "The keys of an owner.",
        {"keys": array(ref("Key"), "Active keys first; newest first.")},
    ),
    "KeyRequest": record(
        "A signed request for a key.",
        {
            "ownerAddress": any_case_address("The key's owner."),
            "label": text("A label.", "my dashboard", maxLength=MAX_LABEL_CHARACTERS),
            "signature": text("The signature.", "0x" + 65 * "1b", pattern="^0[xX]"),
            "timestamp": number("The signed Unix time in milliseconds.", 1767225600000),
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
            "keyPrefix": text("Its first 12 characters.", "scan_aaaaaaa"),
            "message": text("Instructions.", "Keep this key now: it is shown only here."),
        },
    ),
    "Deleted": record(
        "A deletion.", {"success": flag("True."), "id": identifier("Its id.")}
    ),
    "Webhook": record(
        "A webhook, without its secret.",
        {
            "id": identifier("Its id."),
            "url": text("The receiver's URL.", "https://hooks.example.com/scan"),
            "watchAddress": address("The watched address."),
            "eventTypes": array(one_of("An event type.", EVENT_TYPES), "Its event types."),
            "active": flag("Whether events are sent."),
            "createdAt": moment("Creation time."),
            "lastTriggeredAt": nullable(moment("The last attempt.")),
            "failCount": number("Failed attempts since the last success.", 0),
            "stoppedReason": nullable(
                text("Why Scan stopped it, or null.",
                     "its queue held 10,000 undelivered events")
            ),
            "topics": ref("WantedTopics"),
        },
    ),
    "WebhookList": record(
        "The webhooks of an owner.",
        {"webhooks": array(ref("Webhook"), "Oldest first.")},
    ),
    "WebhookRequest": form(
        "A webhook to register.",
        {
            "ownerAddress": any_case_address("Its owner."),
            "url": text(
                f"A public https URL on port {' or '.join(map(str, PORTS))}.",
                "https://hooks.example.com/scan", maxLength=MAX_URL_CHARACTERS,
            ),
            "watchAddress": {
                **nullable(any_case_address("The watched address; by default the owner.")),
            },
            "eventTypes": {
                **nullable(array(one_of("An event type.", EVENT_TYPES), "Its event types.",
                           minItems=1, uniqueItems=True)),
                "default": ["tx"],
            },
            "topics": ref("WantedTopics"),
        },
        ("ownerAddress", "url"),
    ),
    "WebhookChange": form(
        "The new state.", {"active": flag("Whether events are sent.")}, ("active",)
    ),
    "CreatedWebhook": record(
        "A new webhook.",
        {
            "id": identifier("Its id."),
            "secret": text("The key of X-Scan-Signature, shown only here.", 64 * "b"),
            "message": text("Instructions.", "Keep this secret now: it is shown only here."),
        },
    ),
    "Delivery": record(
        "The delivery of an event to a webhook.",
        {
            "id": identifier("Its id, sent as X-Scan-Delivery."),
            "event": one_of("The event type.", EVENT_TYPES),
            "blockNumber": nullable(number("Its block.", 17)),
            "status": one_of("Its state.", STATUSES),
            "responseCode": nullable(number("The receiver's last HTTP status.", 200)),
            "error": nullable(
                text("Why the last attempt got no response.", "no response in time")
            ),
            "attempts": number("Attempts so far.", 1),
            "createdAt": moment("When the event was indexed."),
            "lastAttemptAt": nullable(moment("The last attempt.")),
            "nextAttemptAt": nullable(moment("The next attempt.")),
            "payload": {"type": "object", "description": "The request body."},
        },
    ),
    "DeliveryPage": page_of("deliveries", "Delivery", "Deliveries, newest first."),
    "TestSent": record(
        "A test event.",
        {
            "deliveryId": identifier("Its delivery."),
            "message": text("Where to see the result.", "A test event is on its way."),
        },
    ),
    "Retried": record(
        "A retry.", {"success": flag("True."), "deliveryId": identifier("Its id.")}
    ),
}  # fmt: skip
