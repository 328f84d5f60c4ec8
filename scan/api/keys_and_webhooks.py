"""/api/v1/keys: API keys, which only an address's wallet can obtain; /api/v1/webhooks: webhooks,
their secrets, deliveries, tests, retries and replays."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from flask import Blueprint, request

from scan import json_bodies, parameters
from scan.accounts import api_keys, wallet_signatures
from scan.errors import MissingApiKey, NotFound, WalletKeysOff
from scan.ethereum.blocks import MAX_TOPICS
from scan.hex import BadHex, data, to_hex
from scan.http import credentials_and_limits, request_bodies
from scan.http.current_request import api_key, client_address, query_arguments, reader
from scan.http.idempotent_requests import idempotent
from scan.http.json_responses import JsonResponse, Response, created, json_body, json_value
from scan.http.list_responses import PAGED, list_body, time_of, window_of
from scan.http.request_state import current_request
from scan.http.services import services
from scan.outbound import allowed_urls
from scan.parameters import Faults, require
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
@idempotent
def create_key() -> JsonResponse:
    query_arguments()
    if not services().settings.wallets_make_keys:
        raise WalletKeysOff("Here the operator makes keys: wallets make none.")
    body, faults = request_bodies.json_object(), Faults()
    owner = faults.read(parameters.address, body.get("ownerAddress"), "ownerAddress")
    most = api_keys.MAX_LABEL_CHARACTERS
    label = faults.read(parameters.text, body.get("label", ""), "label", most=most)
    signature = faults.read(_signature, body.get("signature"))
    timestamp_ms = faults.read(_timestamp_ms, body.get("timestamp"))
    faults.raise_found()
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
    answer = {
        "id": key.id,
        "key": key.text,
        "keyPrefix": key.prefix,
        "message": "Keep this key now: it is shown only here. Send it as X-API-Key.",
    }
    return created(answer, f"/keys/{key.id}")


@blueprint.get("/keys/<key_id>")
def get_key(key_id: str) -> Response:
    query_arguments()
    sender = api_key()
    owner = None if services().settings.owner_auth != "always" else (sender and sender.owner) or b""
    return _found("accounts/api_keys_get", "No key has this id.", id=_id(key_id), owner=owner)


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


def _timestamp_ms(value: Any) -> int:
    reason = "timestamp must be a whole number: the signed Unix time in milliseconds."
    require(type(value) is int, "timestamp", reason)
    wallet_signatures.require_recent(value, now_ms=time.time_ns() // 1_000_000)
    return int(value)


MAX_REGISTERED = 20_000  # addresses of a request, which has at most 1 MiB
MAX_CHANGED = 1_000  # addresses added or removed
NO_WEBHOOK = "No webhook has this id."


@blueprint.get("/webhooks")
def list_webhooks() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    return json_body(
        registration.webhooks_of(services().writes, services().settings, _requester(), owner)
    )


@blueprint.get("/webhooks/<webhook_id>")
def get_webhook(webhook_id: str) -> Response:
    query_arguments()
    return _found("webhooks/webhooks_get", NO_WEBHOOK, webhook_id=_managed(webhook_id).id)


@blueprint.post("/webhooks")
@idempotent
def create_webhook() -> JsonResponse:
    body, faults = _known_body("ownerAddress", "watchAddresses", *COLUMNS)
    owner = faults.read(parameters.address, body.get("ownerAddress"), "ownerAddress")
    registered = _looked_up(registration.register, _described(body, owner, faults))
    answer = {
        "id": registered.id,
        "secret": registered.secret,
        "message": "Keep this secret now: it is shown only here. It verifies X-Scan-Signature.",
    }
    return created(answer, f"/webhooks/{registered.id}")


def _described(body: Mapping[str, Any], owner: bytes, faults: Faults) -> NewWebhook:
    """Return the webhook that a body of known keys describes. Raises InvalidParameter."""
    watch_address, addresses = owner, None
    if body.get("watchAddress") is not None:
        watch_address = faults.read(parameters.address, body["watchAddress"], "watchAddress")
    if body.get("watchAddresses") is not None:
        reason = "watchAddress and watchAddresses exclude each other."
        faults.read(require, body.get("watchAddress") is None, "watchAddresses", reason)
        most = MAX_REGISTERED
        addresses = faults.read(_addresses, body["watchAddresses"], "watchAddresses", most)
    event_types = faults.read(_event_types, body)
    topics = faults.read(_topics, body, event_types or ["log"])
    url = faults.read(_url, body)
    format_ = faults.read(_format, body, url)
    given = {key: read for key, read in NARROWING.items() if body.get(key) is not None}
    fields = {key: faults.read(read, body[key]) for key, read in given.items()}
    least = faults.read(_minimum_values, body.get(MINIMUM_VALUE)) or {}
    narrowing = registration.Narrowing(**fields, **least)
    if event_types is not None:
        faults.read(registration.require_narrowable, narrowing, event_types)
    faults.raise_found()
    watched = None if addresses is not None else watch_address
    return NewWebhook(owner, watched, addresses, url, event_types, topics, format_, narrowing)


def _looked_up(action: Callable[..., Any], *arguments: object) -> Any:
    """Run an action that looks up a receiver. Tell whoever names one on the developer's own machine
    which setting allows it."""
    threads = services().waiting_threads
    try:
        return action(services().writes, services().settings, _requester(), threads, *arguments)
    except registration.UrlNotAllowed as error:
        if credentials_and_limits.is_own_machine():
            credentials_and_limits.advise(error, credentials_and_limits.ALLOW_RECEIVERS)
        raise


@blueprint.delete("/webhooks/<webhook_id>")
def delete_webhook(webhook_id: str) -> Response:
    query_arguments()
    webhook = _managed(webhook_id)
    registration.delete(services().writes, webhook)
    return json_value({"success": True, "id": webhook.id})


@blueprint.patch("/webhooks/<webhook_id>")
def change_webhook(webhook_id: str) -> Response:
    """Activate a webhook, stop one and cancel its pending deliveries, or change where its events
    are sent and which it gets: checked as a new one that has all that the body does not name."""
    body, faults = _known_body("active", *COLUMNS)
    is_active: Any = None
    if "active" in body or not body:
        is_active = body.pop("active", None)
        reason = "active must be true or false."
        faults.read(require, isinstance(is_active, bool), "active", reason)
    webhook = _managed(webhook_id)
    has_list = webhook.watch_address is None and "watchAddress" in body
    reason = "This webhook watches a list of addresses, which POST …/addresses changes."
    faults.read(require, not has_list, "watchAddress", reason)
    changed = {}
    if body:
        record = _found("webhooks/webhooks_get", NO_WEBHOOK, webhook_id=webhook.id)
        described = _described(orjson.loads(record.body) | body, webhook.owner, faults)
        values = described._asdict() | described.narrowing._asdict()
        changed = {column: values[column] for key in body for column in COLUMNS[key].split()}
    faults.raise_found()
    _looked_up(registration.change, webhook, changed, is_active)
    return _found("webhooks/webhooks_get", NO_WEBHOOK, webhook_id=webhook.id)


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
@idempotent
def change_addresses(webhook_id: str) -> JsonResponse:
    body, faults = _known_body("add", "remove")
    faults.read(require, body, "add", "add or remove is required: an array of addresses.")
    add, remove = (
        faults.read(_addresses, body.get(name, []), name, MAX_CHANGED) for name in ("add", "remove")
    )
    faults.raise_found()
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


@blueprint.get("/webhooks/<webhook_id>/deliveries/<delivery_id>")
def get_delivery(webhook_id: str, delivery_id: str) -> Response:
    query_arguments()
    ids = {"id": _id(delivery_id, "deliveryId"), "webhook_id": _managed(webhook_id).id}
    return _found("webhooks/deliveries_get", "This webhook has no delivery with this id.", **ids)


@blueprint.post("/webhooks/<webhook_id>/test")
@idempotent
def send_test(webhook_id: str) -> JsonResponse:
    query_arguments()
    webhook = _managed(webhook_id)
    delivery_id = registration.send_test(services().writes, webhook)
    answer = {
        "deliveryId": delivery_id,
        "message": "A test event was queued; see GET /api/v1/webhooks/:id/deliveries.",
    }
    return created(answer, f"/webhooks/{webhook.id}/deliveries/{delivery_id}")


@blueprint.post("/webhooks/<webhook_id>/rotate-secret")
@idempotent
def rotate_secret(webhook_id: str) -> JsonResponse:
    query_arguments()
    webhook = _managed(webhook_id)
    secret, former_until = registration.rotate_secret(services().writes, webhook)
    answer = {
        "id": webhook.id,
        "secret": secret,
        "formerSecretUntil": f"{former_until:%Y-%m-%dT%H:%M:%SZ}",
        "message": "Keep this secret now: it is shown only here. Webhook-Signature has both.",
    }
    return json_value(answer)


@blueprint.post("/webhooks/<webhook_id>/replay")
@idempotent
def replay_deliveries(webhook_id: str) -> JsonResponse:
    body, faults = _known_body("timeFrom", "timeTo")
    first_s = faults.read(parameters.time_s, body.get("timeFrom"), "timeFrom")
    last_s = faults.read(time_of, {"timeTo": parameters.MAX_TIME_S} | body, "timeTo")
    faults.raise_found()
    webhook = _managed(webhook_id)
    count, has_more = registration.replay(services().writes, webhook, first_s, last_s)
    return json_value({"replayed": count, "more": has_more}, 202)


@blueprint.post("/webhooks/<webhook_id>/deliveries/<delivery_id>/retry")
@idempotent
def retry_delivery(webhook_id: str, delivery_id: str) -> JsonResponse:
    query_arguments()
    number = _id(delivery_id, "deliveryId")
    registration.retry(services().writes, _managed(webhook_id), number)
    return json_value({"success": True, "deliveryId": number}, 202)


def _known_body(*keys: str) -> tuple[dict[str, Any], Faults]:
    """Return the body, and its faults so far: keys besides these. Raises InvalidParameter for
    parameters in the query, and for a body that is no object."""
    query_arguments()
    body, faults = request_bodies.json_object(), Faults()
    faults.read(json_bodies.only_known, body, keys, "key")
    return body, faults


def _found(statement: str, otherwise: str, **params: object) -> JsonResponse:
    """Return the record that a statement finds. Raises NotFound."""
    text = services().writes.value(statement, **params)
    if text is None:
        raise NotFound(otherwise)
    return json_body(text)


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
    """Return the least value of all, or the coin's and each token's as JSON, by the fields of a
    Narrowing."""

    def least(amount: object) -> int:
        return int.from_bytes(parameters.unsigned(amount, MINIMUM_VALUE, most=2**256 - 1))

    if not isinstance(value, dict):
        return {} if value is None else {"minimum_value": least(value)}
    reason = f"{MINIMUM_VALUE} must have 1 to {registration.MAX_TOKENS} amounts."
    require(0 < len(value) <= registration.MAX_TOKENS, MINIMUM_VALUE, reason)
    amounts = {
        unit if unit == COIN else to_hex(parameters.address(unit, MINIMUM_VALUE)): str(least(of))
        for unit, of in value.items()
    }
    return {"minimum_values": amounts}


def _confirmations(value: object) -> int:
    name, most = "confirmations", registration.MAX_CONFIRMATIONS
    return parameters.integer({name: value}, name, default=0, least=0, most=most)


def _direction(value: object) -> str:
    return parameters.one_of(value, "direction", ("in", "out"))


# The keys of a body that narrow a webhook's events, with what reads them.
NARROWING: Mapping[str, Callable[[object], Any]] = {
    "direction": _direction,
    "tokens": _tokens,
    "confirmations": _confirmations,
}
MINIMUM_VALUE, COIN = "minimumValue", "coin"
# The columns of the keys that change a webhook.
COLUMNS = {name: name for name in ("url", "topics", "format", *NARROWING)} | {
    "watchAddress": "watch_address",
    "eventTypes": "event_types",
    MINIMUM_VALUE: "minimum_value minimum_values",
}


def _url(body: Mapping[str, Any]) -> str:
    url = parameters.text(body.get("url"), "url", most=allowed_urls.MAX_URL_CHARACTERS)
    registration.parse_url(url)
    return url


def _format(body: Mapping[str, Any], url: str | None) -> str | None:
    if body.get("format") is None:
        return None
    format_ = parameters.one_of(body["format"], "format", FORMATS)
    names_chat = format_ != "telegram" or not url or parse_qs(urlsplit(url).query).get("chat_id")
    reason = "url must have the parameter chat_id, of the chat that gets the messages."
    require(names_chat, "url", reason)
    return format_


def _event_types(body: Mapping[str, Any]) -> list[str]:
    value = body.get("eventTypes")
    if value is None:
        return ["tx"]
    reason = f"eventTypes must be an array of one or more of {', '.join(EVENT_TYPES)}."
    require(isinstance(value, list) and value, "eventTypes", reason)
    names = [parameters.one_of(name, "eventTypes", EVENT_TYPES) for name in value]
    require(len(set(names)) == len(names), "eventTypes", "eventTypes contains a duplicate.")
    return names


def _topics(body: Mapping[str, Any], event_types: Collection[str]) -> list[object] | None:
    """Return the topics that logs must have: at each position None, a topic or several."""
    value = body.get("topics")
    if value is None:
        return None
    require("log" in event_types, "topics", "topics requires the event type log.")
    is_right = isinstance(value, list) and len(value) <= MAX_TOPICS
    require(is_right, "topics", f"topics must be an array of at most {MAX_TOPICS}.")
    return [_allowed_topics(position) for position in value]


def _allowed_topics(value: object) -> object:
    """Return the topics that are allowed at one position."""
    if value is None:
        return None
    if not isinstance(value, list):
        return to_hex(parameters.hash32(value, "topics"))
    reason = f"An array in topics must have 1 to {MAX_TOPICS_PER_POSITION} topics."
    require(1 <= len(value) <= MAX_TOPICS_PER_POSITION, "topics", reason)
    return [to_hex(parameters.hash32(topic, "topics")) for topic in value]
