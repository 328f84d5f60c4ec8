"""/api/v1/keys: API keys, which only an address's wallet can obtain; /api/v1/webhooks: webhooks,
their deliveries, tests and retries."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from flask import Blueprint, request

from scan import json_bodies, parameters
from scan.accounts import api_keys, wallet_signatures
from scan.errors import MissingApiKey, WalletKeysOff
from scan.ethereum.blocks import MAX_TOPICS
from scan.hex import BadHex, data, to_hex
from scan.http import credentials_and_limits, request_bodies
from scan.http.current_request import api_key, client_address, query_arguments, reader
from scan.http.json_responses import Response, json_body, json_value
from scan.http.list_responses import PAGED, list_body, window_of
from scan.http.request_state import current_request
from scan.http.services import services
from scan.outbound import allowed_urls
from scan.parameters import require
from scan.queries.cursors import ADDRESS
from scan.queries.list_pages import Page
from scan.rate_limits.client_address import is_of_one_client
from scan.webhooks import registration
from scan.webhooks.messages import FORMATS
from scan.webhooks.registration import EVENT_TYPES, MAX_TOPICS_PER_POSITION, NewWebhook, Webhook

blueprint = Blueprint("keys_and_webhooks", __name__)


@blueprint.get("/keys")
def list_keys() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    if services().settings.owner_auth == "always":
        wallet_signatures.require_key_of(owner, api_key())
    return json_body(services().writes.value("accounts/api_keys_list", owner=owner))


@blueprint.post("/keys")
def create_key() -> Response:
    query_arguments()
    if not services().settings.wallets_make_keys:
        raise WalletKeysOff("Here the operator makes keys: wallets make none.")
    body = request_bodies.json_object()
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    label = parameters.text(body.get("label", ""), "label", most=api_keys.MAX_LABEL_CHARACTERS)
    signature = _signature(body.get("signature"))
    timestamp_ms: Any = body.get("timestamp")
    reason = "timestamp must be a whole number: the signed Unix time in milliseconds."
    require(type(timestamp_ms) is int, "timestamp", reason)
    wallet_signatures.require_recent(timestamp_ms, now_ms=time.time_ns() // 1_000_000)
    wallet_signatures.require_signed(owner, timestamp_ms, signature, reader().node)
    key = api_keys.create(
        services().writes,
        services().limiter,
        services().settings,
        owner=owner,
        signed_at_ms=timestamp_ms,
        label=label,
        client_address=client_address(),
        maker=current_request().maker,
    )
    created = {
        "id": key.id,
        "key": key.text,
        "keyPrefix": key.prefix,
        "message": "Keep this key now: it is shown only here. Send it as X-API-Key.",
    }
    return json_value(created, 201)


@blueprint.delete("/keys/<key_id>")
def delete_key(key_id: str) -> Response:
    query_arguments()
    number = _id(key_id)
    key = api_key()
    if key is None:
        raise MissingApiKey("Deleting a key requires an API key of the same owner in X-API-Key.")
    api_keys.deactivate(services().writes, number, key.owner)
    services().key_lookup.clear_cache()
    return json_value({"success": True, "id": number})


def _signature(value: object) -> bytes:
    try:
        signature = data(value)
    except BadHex:
        signature = b""
    require(
        0 < len(signature) <= wallet_signatures.MAX_SIGNATURE_BYTES,
        "signature",
        "signature must be 0x followed by hex: the signature of the message by the wallet's"
        " personal message signing.",
    )
    return signature


CREATE_KEYS = "ownerAddress url watchAddress watchAddresses eventTypes topics format".split()
MAX_REGISTERED = 20_000  # addresses of a request, which has at most 1 MiB
MAX_CHANGED = 1_000  # addresses added or removed


@blueprint.get("/webhooks")
def list_webhooks() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    return json_body(
        registration.webhooks_of(services().writes, services().settings, _requester(), owner)
    )


@blueprint.post("/webhooks")
def create_webhook() -> Response:
    query_arguments()
    body = request_bodies.json_object()
    json_bodies.only_known(body, (*CREATE_KEYS, *NARROWING, MINIMUM_VALUE), "key")
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    watch_address, addresses = owner, None
    if body.get("watchAddress") is not None:
        watch_address = parameters.address(body["watchAddress"], "watchAddress")
    if body.get("watchAddresses") is not None:
        reason = "watchAddress and watchAddresses exclude each other."
        require(body.get("watchAddress") is None, "watchAddresses", reason)
        addresses = _addresses(body["watchAddresses"], "watchAddresses", MAX_REGISTERED)
    event_types = _event_types(body)
    topics = _topics(body, event_types)
    url = parameters.text(body.get("url"), "url", most=allowed_urls.MAX_URL_CHARACTERS)
    format_ = body.get("format")
    if format_ is not None:
        format_ = parameters.one_of(format_, "format", FORMATS)
        names_chat = format_ != "telegram" or parse_qs(urlsplit(url).query).get("chat_id")
        reason = "url must have the parameter chat_id, of the chat that gets the messages."
        require(names_chat, "url", reason)
    try:
        registered = registration.register(
            services().writes,
            services().settings,
            _requester(),
            NewWebhook(
                owner,
                None if addresses is not None else watch_address,
                addresses,
                url,
                event_types,
                topics,
                format_,
                registration.Narrowing(**_narrowing(body)),
            ),
            services().waiting_threads,
        )
    except registration.UrlNotAllowed as error:
        if credentials_and_limits.is_own_machine():
            credentials_and_limits.advise(error, credentials_and_limits.ALLOW_RECEIVERS)
        raise
    created = {
        "id": registered.id,
        "secret": registered.secret,
        "message": "Keep this secret now: it is shown only here. It verifies X-Scan-Signature.",
    }
    return json_value(created, 201)


@blueprint.delete("/webhooks/<webhook_id>")
def delete_webhook(webhook_id: str) -> Response:
    query_arguments()
    webhook = _managed(webhook_id)
    registration.delete(services().writes, webhook)
    return json_value({"success": True, "id": webhook.id})


@blueprint.patch("/webhooks/<webhook_id>")
def change_webhook(webhook_id: str) -> Response:
    """Activate a webhook, stop one and cancel its pending deliveries, or narrow its events."""
    query_arguments()
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("active", *NARROWING, MINIMUM_VALUE), "key")
    narrowing = _narrowing(body)
    is_active: Any = None
    if "active" in body or not narrowing:
        is_active = body.get("active")
        require(isinstance(is_active, bool), "active", "active must be true or false.")
    registration.change(
        services().writes,
        services().settings,
        _requester(),
        webhook := _managed(webhook_id),
        narrowing,
        is_active,
    )
    return json_body(services().writes.value("webhooks/webhooks_get", webhook_id=webhook.id))


@blueprint.get("/webhooks/<webhook_id>/addresses")
def list_addresses(webhook_id: str) -> Response:
    arguments = query_arguments(*PAGED)
    window = window_of(arguments)
    webhook = _managed(webhook_id)
    registration.require_list(webhook)
    filters = {"webhook": webhook.id}
    traversal = window.traversal("watched addresses", filters, (ADDRESS,), has_blocks=False)
    row = services().writes.row(
        "webhooks/addresses_list", webhook_id=webhook.id, **window.page(traversal)
    )
    assert row is not None
    return list_body("addresses", Page.keyed(traversal, row), arguments)


@blueprint.post("/webhooks/<webhook_id>/addresses")
def change_addresses(webhook_id: str) -> Response:
    query_arguments()
    body = request_bodies.json_object()
    json_bodies.only_known(body, ("add", "remove"), "key")
    require(body, "add", "add or remove is required: an array of addresses.")
    add, remove = (_addresses(body.get(name, []), name, MAX_CHANGED) for name in ("add", "remove"))
    is_clear = set(add).isdisjoint(remove)
    require(is_clear, "remove", "add and remove have an address in common.")
    added, removed, count = registration.change_addresses(
        services().writes, _managed(webhook_id), add=add, remove=remove
    )
    return json_value({"added": added, "removed": removed, "addressCount": count})


@blueprint.get("/webhooks/<webhook_id>/deliveries")
def list_deliveries(webhook_id: str) -> Response:
    arguments = query_arguments(*PAGED)
    window = window_of(arguments)
    webhook = _managed(webhook_id)
    traversal = window.traversal("deliveries", {"webhook": webhook.id}, has_blocks=False)
    row = services().writes.row(
        "webhooks/deliveries_list", webhook_id=webhook.id, **window.page(traversal)
    )
    assert row is not None
    return list_body("deliveries", Page.keyed(traversal, row), arguments)


@blueprint.post("/webhooks/<webhook_id>/test")
def send_test(webhook_id: str) -> Response:
    query_arguments()
    created = {
        "deliveryId": registration.send_test(services().writes, _managed(webhook_id)),
        "message": "A test event was queued; see GET /api/v1/webhooks/:id/deliveries.",
    }
    return json_value(created, 201)


@blueprint.post("/webhooks/<webhook_id>/deliveries/<delivery_id>/retry")
def retry_delivery(webhook_id: str, delivery_id: str) -> Response:
    query_arguments()
    number = _id(delivery_id, "deliveryId")
    registration.retry(services().writes, _managed(webhook_id), number)
    return json_value({"success": True, "deliveryId": number}, 202)


def _managed(webhook_id: str) -> Webhook:
    return registration.managed_webhook(
        services().writes, services().settings, _requester(), _id(webhook_id)
    )


def _requester() -> wallet_signatures.Requester:
    proxies = services().settings.trusted_proxies
    return wallet_signatures.Requester(
        api_key(),
        client_address(),
        request.headers.get("X-Webhook-Secret"),
        is_of_one_client(request.environ, proxies),
        current_request().maker,
    )


def _id(text: str, name: str = "id") -> int:
    return parameters.integer_text({name: text}, name, default=0, least=1)


def _addresses(value: Any, name: str, most: int) -> list[bytes]:
    """Return the addresses of an array, each once."""
    is_right = isinstance(value, list) and len(value) <= most
    require(is_right, name, f"{name} must be an array of at most {most:,} addresses.")
    return list(dict.fromkeys(parameters.address(address, name) for address in value))


def _tokens(value: object) -> list[bytes]:
    tokens = _addresses(value, "tokens", registration.MAX_TOKENS)
    require(tokens, "tokens", "tokens must have an address, or be null.")
    return tokens


def _minimum_values(value: object) -> dict[str, Any]:
    """Return the least value of all, or the coin's and each token's as JSON, each None where it is
    not given, by the fields of a Narrowing."""

    def least(amount: object) -> int:
        return int.from_bytes(parameters.unsigned(amount, MINIMUM_VALUE, most=2**256 - 1))

    if not isinstance(value, dict):
        return {"minimum_value": None if value is None else least(value), "minimum_values": None}
    reason = f"{MINIMUM_VALUE} must have 1 to {registration.MAX_TOKENS} amounts."
    require(0 < len(value) <= registration.MAX_TOKENS, MINIMUM_VALUE, reason)
    amounts = {
        unit if unit == COIN else to_hex(parameters.address(unit, MINIMUM_VALUE)): str(least(of))
        for unit, of in value.items()
    }
    return {"minimum_value": None, "minimum_values": orjson.dumps(amounts).decode()}


def _confirmations(value: object) -> int:
    name, most = "confirmations", registration.MAX_CONFIRMATIONS
    return parameters.integer({name: value}, name, default=0, least=0, most=most)


def _direction(value: object) -> str:
    return parameters.one_of(value, "direction", ("in", "out"))


# The keys of a body that narrow a webhook's events: the field of a Narrowing, and what reads it.
NARROWING: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "direction": ("direction", _direction),
    "tokens": ("tokens", _tokens),
    "confirmations": ("confirmations", _confirmations),
}
MINIMUM_VALUE, COIN = "minimumValue", "coin"


def _narrowing(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Narrowing that a body has, by their names."""
    fields = {
        field: None if body[key] is None else read(body[key])
        for key, (field, read) in NARROWING.items()
        if key in body
    }
    return fields | (_minimum_values(body[MINIMUM_VALUE]) if MINIMUM_VALUE in body else {})


def _event_types(body: Mapping[str, Any]) -> list[str]:
    value = body.get("eventTypes")
    if value is None:
        return ["tx"]
    reason = f"eventTypes must be an array of one or more of {', '.join(EVENT_TYPES)}."
    require(isinstance(value, list) and value, "eventTypes", reason)
    names = [parameters.one_of(name, "eventTypes", EVENT_TYPES) for name in value]
    require(len(set(names)) == len(names), "eventTypes", "eventTypes contains a duplicate.")
    return names


def _topics(body: Mapping[str, Any], event_types: Collection[str]) -> str | None:
    """Return the topics that logs must have, as JSON: at each position null, a topic or several."""
    value = body.get("topics")
    if value is None:
        return None
    require("log" in event_types, "topics", "topics requires the event type log.")
    is_right = isinstance(value, list) and len(value) <= MAX_TOPICS
    require(is_right, "topics", f"topics must be an array of at most {MAX_TOPICS}.")
    return orjson.dumps([_allowed_topics(position) for position in value]).decode()


def _allowed_topics(value: object) -> object:
    """Return the topics that are allowed at one position."""
    if value is None:
        return None
    if not isinstance(value, list):
        return to_hex(parameters.hash32(value, "topics"))
    reason = f"An array in topics must have 1 to {MAX_TOPICS_PER_POSITION} topics."
    require(1 <= len(value) <= MAX_TOPICS_PER_POSITION, "topics", reason)
    return [to_hex(parameters.hash32(topic, "topics")) for topic in value]
