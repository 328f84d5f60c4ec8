"""/api/v1/webhooks: what is sent where, and how that went (SPEC 4.8 to 4.10, 6)."""

import secrets
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.accounts.ownership import is_claimed, require_owner
from scan.database.transaction import Transaction
from scan.errors import InvalidParameter, LimitReached, NotFound, OwnerMismatch
from scan.ethereum.log_filter import TOPICS
from scan.hex import to_hex
from scan.http.requests import api_key, client_address, json_object, query_arguments
from scan.http.responses import json_body, json_value, list_body
from scan.http.services import services
from scan.queries.pages import Page
from scan.webhooks import urls
from scan.webhooks.urls import NotResolved, Purpose, RefusedUrl, WebhookUrl

blueprint = Blueprint("webhooks", __name__)

EVENT_TYPES = ("tx", "token_transfer", "log")
MOST_TOPICS_IN_A_PLACE = 10
CREATE_KEYS = ("ownerAddress", "url", "watchAddress", "eventTypes", "topics")
# How many may be active at once.
MOST_FOR_OWNER = 10
MOST_FOR_WATCH_ADDRESS = 100
MOST_FOR_CLIENT = 20  # without a key of the owner
ID_MOST = 2**53 - 1  # what JavaScript's numbers hold
SECRET_BYTES = 32
LOOKUP_TIMEOUT_S = 1.5


class Counted(NamedTuple):
    """Of whom active webhooks are counted; `client_address` is None where it need not be."""

    owner: bytes
    watch_address: bytes
    client_address: str | None


class Webhook(NamedTuple):
    """One that the caller may act on."""

    id: int
    owner: bytes
    watch_address: bytes


@blueprint.get("/webhooks")
def list_webhooks() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    _require_owner(owner)
    return json_body(services().writes.value("webhooks/webhooks_list", owner=owner))


@blueprint.post("/webhooks")
def create_webhook() -> Response:
    body = json_object()
    parameters.only_known(body, CREATE_KEYS, "key")
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    watch_address = owner
    if body.get("watchAddress") is not None:
        watch_address = parameters.address(body["watchAddress"], "watchAddress")
    event_types = _event_types(body)
    topics = _topics(body, event_types)
    url = parameters.text(body.get("url"), "url", most=urls.LONGEST_URL)
    parsed = _parse(url)
    _require_owner(owner)
    _require_allowed(parsed)
    counted = Counted(owner, watch_address, _client_without_key_of(owner))
    webhook_id, secret = 1 + secrets.randbelow(ID_MOST), secrets.token_hex(SECRET_BYTES)
    with services().writes.transaction() as tx:
        _lock_counts(tx, counted)
        _require_room(tx, counted)
        tx.execute(
            "webhooks/webhooks_insert",
            id=webhook_id,
            url=url,
            host=f"{parsed.host}:{parsed.port}",
            event_types=event_types,
            topics=topics,
            secret=secret,
            now=_now(),
            **counted._asdict(),
        )
    created = {
        "id": webhook_id,
        "secret": secret,
        "message": "Keep this secret now: it is shown only here. It verifies X-Scan-Signature.",
    }
    return json_value(created, 201)


@blueprint.delete("/webhooks/<webhook_id>")
def delete_webhook(webhook_id: str) -> Response:
    webhook = _owned(webhook_id)
    with services().writes.transaction() as tx:
        _lock(tx, webhook.id)
        _cancel(tx, webhook.id, "the webhook was deleted")
        tx.execute("webhooks/webhooks_delete", webhook_id=webhook.id)
    return json_value({"success": True, "id": webhook.id})


@blueprint.patch("/webhooks/<webhook_id>")
def change_webhook(webhook_id: str) -> Response:
    """Re-activate one that was stopped, or stop it and what waits for it."""
    body = json_object()
    parameters.only_known(body, ("active",), "key")
    if type(body.get("active")) is not bool:
        raise InvalidParameter("active must be true or false.", field="active")
    webhook = _owned(webhook_id)
    with services().writes.transaction() as tx:
        if body["active"]:
            _activate(tx, webhook)
        else:
            _lock(tx, webhook.id)
            tx.execute("webhooks/webhooks_deactivate", webhook_id=webhook.id, reason=None)
            _cancel(tx, webhook.id, "the webhook was deactivated")
    return json_body(services().writes.value("webhooks/webhooks_get", webhook_id=webhook.id))


@blueprint.get("/webhooks/<webhook_id>/deliveries")
def list_deliveries(webhook_id: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    webhook = _owned(webhook_id)
    row = services().writes.row(
        "webhooks/deliveries_list", webhook_id=webhook.id, limit=limit, offset=offset
    )
    assert row is not None
    return list_body("deliveries", Page(*row))


@blueprint.post("/webhooks/<webhook_id>/test")
def send_test(webhook_id: str) -> Response:
    webhook = _owned(webhook_id, must_be_active=True)
    with services().writes.transaction() as tx:
        _lock(tx, webhook.id)
        delivery_id = tx.value("webhooks/deliveries_insert_test", webhook_id=webhook.id, now=_now())
        _refresh_queue(tx, webhook.id)
    created = {
        "deliveryId": delivery_id,
        "message": "A test event is on its way; see GET /api/v1/webhooks/:id/deliveries.",
    }
    return json_value(created, 201)


@blueprint.post("/webhooks/<webhook_id>/deliveries/<delivery_id>/retry")
def retry_delivery(webhook_id: str, delivery_id: str) -> Response:
    delivery = _id(delivery_id, "deliveryId")
    webhook = _owned(webhook_id, must_be_active=True)
    with services().writes.transaction() as tx:
        _lock(tx, webhook.id)
        found = tx.rows("webhooks/deliveries_retry", id=delivery, webhook_id=webhook.id, now=_now())
        if not found:
            raise NotFound("This webhook has no delivery with this id.")
        if found[0][0]:
            raise InvalidParameter("The block of this event is no longer part of the chain.")
        _refresh_queue(tx, webhook.id)
    return json_value({"success": True, "deliveryId": delivery}, 202)


def _event_types(body: Mapping[str, Any]) -> list[str]:
    value = body.get("eventTypes")
    if value is None:
        return ["tx"]
    if not isinstance(value, list) or not value:
        raise InvalidParameter(
            f"eventTypes must be an array of one or more of {', '.join(EVENT_TYPES)}.",
            field="eventTypes",
        )
    names = [parameters.one_of(name, "eventTypes", EVENT_TYPES) for name in value]
    if len(set(names)) != len(names):
        raise InvalidParameter("eventTypes names one twice.", field="eventTypes")
    return names


def _topics(body: Mapping[str, Any], event_types: Collection[str]) -> str | None:
    """Which topics logs must have, as JSON: for each place null, a topic, or several."""
    value = body.get("topics")
    if value is None:
        return None
    if "log" not in event_types:
        raise InvalidParameter("topics are for event type log alone.", field="topics")
    if not isinstance(value, list) or len(value) > TOPICS:
        raise InvalidParameter(f"topics must be an array of at most {TOPICS}.", field="topics")
    return orjson.dumps([_topics_in_a_place(each) for each in value]).decode()


def _topics_in_a_place(value: object) -> object:
    if value is None:
        return None
    if not isinstance(value, list):
        return to_hex(parameters.hash32(value, "topics"))
    if not 1 <= len(value) <= MOST_TOPICS_IN_A_PLACE:
        raise InvalidParameter(
            f"An array in topics must have 1 to {MOST_TOPICS_IN_A_PLACE} of them.", field="topics"
        )
    return [to_hex(parameters.hash32(topic, "topics")) for topic in value]


def _parse(url: str) -> WebhookUrl:
    try:
        return urls.parse(url)
    except RefusedUrl as error:
        raise _refused(error) from None


def _require_allowed(url: WebhookUrl) -> None:
    """A name that has no address yet may get one; it is checked again at every connection."""
    try:
        addresses = urls.resolve(url, LOOKUP_TIMEOUT_S, Purpose.REGISTRATION)
    except NotResolved:
        addresses = []
    except RefusedUrl as error:
        raise _refused(error) from None
    try:
        allowed = services().settings.webhook_allow_networks
        urls.require_allowed(url, addresses, allowed)
    except RefusedUrl as error:
        raise _refused(error) from None


def _refused(error: RefusedUrl) -> InvalidParameter:
    return InvalidParameter(f"This url cannot be used: {error}.", field="url")


def _id(text: str, name: str = "id") -> int:
    return parameters.integer_text({name: text}, name, default=0, least=1)


def _owned(webhook_id: str, must_be_active: bool = False) -> Webhook:
    """A webhook that the caller may act on; to others it does not exist."""
    number = _id(webhook_id)
    row = services().writes.row("webhooks/webhooks_get_owner", webhook_id=number)
    if row is None:
        raise _not_found()
    webhook = Webhook(number, bytes(row[0]), bytes(row[1]))
    try:
        _require_owner(webhook.owner)
    except OwnerMismatch:
        raise _not_found() from None
    if must_be_active and not row[2]:
        raise InvalidParameter('This webhook is not active; PATCH it with {"active": true} first.')
    return webhook


def _require_owner(owner: bytes) -> None:
    mode = services().settings.owner_auth
    claimed = mode == "claimed" and is_claimed(services().writes, owner)
    require_owner(owner, api_key(), mode, claimed)


def _client_without_key_of(owner: bytes) -> str | None:
    """The client's address, which may have only so many webhooks; None for the owner itself.

    Whoever runs a private network with SCAN_OWNER_AUTH=never trusts all its clients.
    """
    key = api_key()
    if services().settings.owner_auth == "never" or (key is not None and key.owner == owner):
        return None
    return client_address()


def _lock_counts(tx: Transaction, counted: Counted) -> None:
    """One change at a time, until the transaction ends; comes before the lock of a queue."""
    tx.execute("webhooks/webhooks_lock_counts", **counted._asdict())


def _require_room(tx: Transaction, counted: Counted) -> None:
    """Raises LimitReached where one more active webhook is not allowed."""
    [(by_owner, by_watch_address, by_client)] = tx.rows(
        "webhooks/webhooks_count_active", **counted._asdict()
    )
    if by_owner >= MOST_FOR_OWNER:
        raise LimitReached(
            f"This owner has {by_owner} active webhooks, the most; delete one first."
        )
    if by_watch_address >= MOST_FOR_WATCH_ADDRESS:
        raise LimitReached(f"{by_watch_address} active webhooks watch this address, the most.")
    if by_client >= MOST_FOR_CLIENT:
        raise LimitReached(
            f"{by_client} active webhooks were registered from your address without a key of their"
            " owner, the most; send an API key of the owner, or delete one first."
        )


def _activate(tx: Transaction, webhook: Webhook) -> None:
    client = _client_without_key_of(webhook.owner)
    counted = Counted(webhook.owner, webhook.watch_address, client)
    _lock_counts(tx, counted)
    _lock(tx, webhook.id)
    [(_, _, is_active)] = tx.rows("webhooks/webhooks_get_owner", webhook_id=webhook.id)
    if not is_active:
        _require_room(tx, counted)
        tx.execute("webhooks/webhooks_activate", webhook_id=webhook.id, client_address=client)


def _lock(tx: Transaction, webhook_id: int) -> None:
    """Raises NotFound when somebody else has deleted it meanwhile."""
    if not tx.rows("webhooks/queues_lock", webhook_id=webhook_id):
        raise _not_found()


def _cancel(tx: Transaction, webhook_id: int, reason: str) -> None:
    tx.execute("webhooks/deliveries_cancel", webhook_id=webhook_id, now=_now(), error=reason)
    tx.execute("webhooks/queues_refresh", webhook_ids=[webhook_id])


def _refresh_queue(tx: Transaction, webhook_id: int) -> None:
    tx.execute("webhooks/queues_refresh", webhook_ids=[webhook_id])
    tx.execute("webhooks/events_notify")


def _not_found() -> NotFound:
    return NotFound("There is no webhook with this id.")


def _now() -> datetime:
    return datetime.now(UTC)
