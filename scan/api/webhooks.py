"""/api/v1/webhooks: who is told of which events, and how that went (SPEC 4.8 to 4.10, 6)."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from scan import parameters
from scan.accounts.ownership import is_claimed, require_owner
from scan.api.lists import Page, page_body
from scan.database.transaction import Transaction
from scan.errors import InvalidParameter, LimitReached, NotFound, OwnerMismatch
from scan.http.requests import api_key, json_object, query_arguments
from scan.http.responses import json_body, json_value
from scan.http.services import services
from scan.webhooks import urls
from scan.webhooks.urls import NotResolved, RefusedTarget, Target

blueprint = Blueprint("webhooks", __name__)

EVENT_TYPES = ("tx", "token_transfer")
MOST_WEBHOOKS = 10
ID_MOST = 2**53 - 1  # what JavaScript's numbers hold
SECRET_BYTES = 32
LOOKUP_TIMEOUT_S = 1.5


@blueprint.get("/webhooks")
def list_webhooks() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    _require_owner(owner)
    return json_body(services().writes.value("webhooks/webhooks_list", owner=owner))


@blueprint.post("/webhooks")
def create_webhook() -> Response:
    body = json_object()
    parameters.only_known(body, ("ownerAddress", "url", "watchAddress", "eventTypes"), "key")
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    watch_address = owner
    if body.get("watchAddress") is not None:
        watch_address = parameters.address(body["watchAddress"], "watchAddress")
    event_types = _event_types(body)
    url = parameters.text(body.get("url"), "url", most=urls.LONGEST_URL)
    target = _parse(url)
    _require_owner(owner)
    _require_allowed(target)
    webhook_id, secret = 1 + secrets.randbelow(ID_MOST), secrets.token_hex(SECRET_BYTES)
    with services().writes.transaction() as tx:
        _require_room(tx, owner)
        tx.execute(
            "webhooks/webhooks_insert",
            id=webhook_id,
            owner=owner,
            watch_address=watch_address,
            url=url,
            host=f"{target.host}:{target.port}",
            event_types=event_types,
            secret=secret,
            now=_now(),
        )
    created = {
        "id": webhook_id,
        "secret": secret,
        "message": "Keep this secret now: it is shown only here. It verifies X-Scan-Signature.",
    }
    return json_value(created, 201)


@blueprint.delete("/webhooks/<webhook_id>")
def delete_webhook(webhook_id: str) -> Response:
    number, _ = _owned(webhook_id)
    with services().writes.transaction() as tx:
        _lock(tx, number)
        _cancel(tx, number, "the webhook was deleted")
        tx.execute("webhooks/webhooks_delete", webhook_id=number)
    return json_value({"success": True, "id": number})


@blueprint.patch("/webhooks/<webhook_id>")
def change_webhook(webhook_id: str) -> Response:
    """Re-activate one that was stopped, or stop it and what waits for it."""
    body = json_object()
    parameters.only_known(body, ("active",), "key")
    if type(body.get("active")) is not bool:
        raise InvalidParameter("active must be true or false.", field="active")
    number, owner = _owned(webhook_id)
    with services().writes.transaction() as tx:
        if body["active"]:
            _activate(tx, number, owner)
        else:
            _lock(tx, number)
            tx.execute("webhooks/webhooks_deactivate", webhook_id=number)
            _cancel(tx, number, "the webhook was deactivated")
    return json_body(services().writes.value("webhooks/webhooks_get", webhook_id=number))


@blueprint.get("/webhooks/<webhook_id>/deliveries")
def list_deliveries(webhook_id: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    number, _ = _owned(webhook_id)
    row = services().writes.row(
        "webhooks/deliveries_list", webhook_id=number, limit=limit, offset=offset
    )
    assert row is not None
    return json_body(page_body("deliveries", Page(*row)))


@blueprint.post("/webhooks/<webhook_id>/test")
def send_test(webhook_id: str) -> Response:
    number, _ = _owned(webhook_id, must_be_active=True)
    with services().writes.transaction() as tx:
        _lock(tx, number)
        delivery_id = tx.value("webhooks/deliveries_insert_test", webhook_id=number, now=_now())
        _put_to_work(tx, number)
    created = {
        "deliveryId": delivery_id,
        "message": "A test event is on its way; see GET /api/v1/webhooks/:id/deliveries.",
    }
    return json_value(created, 201)


@blueprint.post("/webhooks/<webhook_id>/deliveries/<delivery_id>/retry")
def retry_delivery(webhook_id: str, delivery_id: str) -> Response:
    delivery = _id(delivery_id, "deliveryId")
    number, _ = _owned(webhook_id, must_be_active=True)
    with services().writes.transaction() as tx:
        _lock(tx, number)
        found = tx.rows("webhooks/deliveries_retry", id=delivery, webhook_id=number, now=_now())
        if not found:
            raise NotFound("This webhook has no delivery with this id.")
        if found[0][0]:
            raise InvalidParameter("The block of this event is no longer part of the chain.")
        _put_to_work(tx, number)
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


def _parse(url: str) -> Target:
    try:
        return urls.parse(url)
    except RefusedTarget as error:
        raise _refused(error) from None


def _require_allowed(target: Target) -> None:
    """A name that has no address yet may get one; it is checked again at every connection."""
    try:
        addresses = urls.resolve(target, LOOKUP_TIMEOUT_S)
    except NotResolved:
        addresses = []
    except RefusedTarget as error:
        raise _refused(error) from None
    try:
        allowed = services().settings.webhook_allow_networks
        urls.require_allowed(target, addresses, allowed)
    except RefusedTarget as error:
        raise _refused(error) from None


def _refused(error: RefusedTarget) -> InvalidParameter:
    return InvalidParameter(f"This url cannot be used: {error}.", field="url")


def _id(text: str, name: str = "id") -> int:
    return parameters.integer_text({name: text}, name, default=0, least=1)


def _owned(webhook_id: str, must_be_active: bool = False) -> tuple[int, bytes]:
    """(id, owner) of a webhook that the caller may act on; to others it does not exist."""
    number = _id(webhook_id)
    row = services().writes.row("webhooks/webhooks_get_owner", webhook_id=number)
    if row is None:
        raise _not_found()
    owner = bytes(row[0])
    try:
        _require_owner(owner)
    except OwnerMismatch:
        raise _not_found() from None
    if must_be_active and not row[1]:
        raise InvalidParameter('This webhook is not active; PATCH it with {"active": true} first.')
    return number, owner


def _require_owner(owner: bytes) -> None:
    mode = services().settings.owner_auth
    claimed = mode == "claimed" and is_claimed(services().writes, owner)
    require_owner(owner, api_key(), mode, claimed)


def _require_room(tx: Transaction, owner: bytes) -> None:
    tx.execute("webhooks/webhooks_lock_owner", owner=owner)
    if tx.value("webhooks/webhooks_count_active", owner=owner) >= MOST_WEBHOOKS:
        raise LimitReached(
            f"This owner has {MOST_WEBHOOKS} active webhooks, the most; delete one first."
        )


def _activate(tx: Transaction, webhook_id: int, owner: bytes) -> None:
    tx.execute("webhooks/webhooks_lock_owner", owner=owner)
    _lock(tx, webhook_id)
    [(_, is_active)] = tx.rows("webhooks/webhooks_get_owner", webhook_id=webhook_id)
    if not is_active:
        _require_room(tx, owner)
        tx.execute("webhooks/webhooks_activate", webhook_id=webhook_id)


def _lock(tx: Transaction, webhook_id: int) -> None:
    """Raises NotFound when somebody else has deleted it meanwhile."""
    if not tx.rows("webhooks/queues_lock", webhook_id=webhook_id):
        raise _not_found()


def _cancel(tx: Transaction, webhook_id: int, reason: str) -> None:
    tx.execute("webhooks/deliveries_cancel", webhook_id=webhook_id, now=_now(), error=reason)
    tx.execute("webhooks/queues_refresh", webhook_ids=[webhook_id])


def _put_to_work(tx: Transaction, webhook_id: int) -> None:
    tx.execute("webhooks/queues_refresh", webhook_ids=[webhook_id])
    tx.execute("webhooks/events_notify")


def _not_found() -> NotFound:
    return NotFound("There is no webhook with this id.")


def _now() -> datetime:
    return datetime.now(UTC)
