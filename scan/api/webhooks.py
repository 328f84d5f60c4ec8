"""/api/v1/webhooks: webhooks, their deliveries, tests and retries."""

from collections.abc import Collection, Mapping
from typing import Any

import orjson
from flask import Blueprint, request

from scan import json_bodies, parameters
from scan.accounts.owner_authorization import Requester
from scan.errors import InvalidParameter
from scan.ethereum.blocks import MAX_TOPICS
from scan.hex import to_hex
from scan.http import own_machine
from scan.http.list_responses import PAGED, list_body, window_of
from scan.http.requests import api_key, client_address, is_own_machine, json_object, query_arguments
from scan.http.responses import Response, json_body, json_value
from scan.http.services import services
from scan.outbound import public_hosts
from scan.queries.pages import Page
from scan.rate_limits.client_address import is_of_one_client
from scan.webhooks import owner_actions, registration
from scan.webhooks.owner_actions import Webhook
from scan.webhooks.registration import EVENT_TYPES, MAX_TOPICS_PER_POSITION, NewWebhook

blueprint = Blueprint("webhooks", __name__)

CREATE_KEYS = ("ownerAddress", "url", "watchAddress", "eventTypes", "topics")


@blueprint.get("/webhooks")
def list_webhooks() -> Response:
    owner = parameters.address(query_arguments("owner").get("owner"), "owner")
    return json_body(
        owner_actions.webhooks_of(services().writes, services().settings, _requester(), owner)
    )


@blueprint.post("/webhooks")
def create_webhook() -> Response:
    query_arguments()
    body = json_object()
    json_bodies.only_known(body, CREATE_KEYS, "key")
    owner = parameters.address(body.get("ownerAddress"), "ownerAddress")
    watch_address = owner
    if body.get("watchAddress") is not None:
        watch_address = parameters.address(body["watchAddress"], "watchAddress")
    event_types = _event_types(body)
    topics = _topics(body, event_types)
    url = parameters.text(body.get("url"), "url", most=public_hosts.MAX_URL_CHARACTERS)
    try:
        registered = registration.register(
            services().writes,
            services().settings,
            _requester(),
            NewWebhook(owner, watch_address, url, event_types, topics),
            services().waiting_threads,
        )
    except registration.UrlNotAllowed as error:
        if is_own_machine():
            own_machine.advise(error, own_machine.ALLOW_RECEIVERS)
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
    owner_actions.delete(services().writes, webhook)
    return json_value({"success": True, "id": webhook.id})


@blueprint.patch("/webhooks/<webhook_id>")
def change_webhook(webhook_id: str) -> Response:
    """Activate a stopped webhook, or stop one and cancel its pending deliveries."""
    query_arguments()
    body = json_object()
    json_bodies.only_known(body, ("active",), "key")
    if type(body.get("active")) is not bool:
        raise InvalidParameter("active must be true or false.", field="active")
    webhook = _managed(webhook_id)
    if body["active"]:
        owner_actions.activate(services().writes, services().settings, _requester(), webhook)
    else:
        owner_actions.stop(services().writes, webhook)
    return json_body(services().writes.value("webhooks/webhooks_get", webhook_id=webhook.id))


@blueprint.get("/webhooks/<webhook_id>/deliveries")
def list_deliveries(webhook_id: str) -> Response:
    arguments = query_arguments(*PAGED)
    window = window_of(arguments)
    webhook = _managed(webhook_id)
    traversal = window.traversal("deliveries", {"webhook": webhook.id}, has_blocks=False)
    row = services().writes.row(
        "webhooks/deliveries_list",
        webhook_id=webhook.id,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
    )
    assert row is not None
    data, count, total, last_id = row
    following = traversal.next(None if last_id is None else [last_id])
    return list_body("deliveries", Page(data, count, total, following), arguments)


@blueprint.post("/webhooks/<webhook_id>/test")
def send_test(webhook_id: str) -> Response:
    query_arguments()
    created = {
        "deliveryId": owner_actions.send_test(services().writes, _managed(webhook_id)),
        "message": "A test event was queued; see GET /api/v1/webhooks/:id/deliveries.",
    }
    return json_value(created, 201)


@blueprint.post("/webhooks/<webhook_id>/deliveries/<delivery_id>/retry")
def retry_delivery(webhook_id: str, delivery_id: str) -> Response:
    query_arguments()
    number = _id(delivery_id, "deliveryId")
    owner_actions.retry(services().writes, _managed(webhook_id), number)
    return json_value({"success": True, "deliveryId": number}, 202)


def _managed(webhook_id: str) -> Webhook:
    return owner_actions.managed_webhook(
        services().writes, services().settings, _requester(), _id(webhook_id)
    )


def _requester() -> Requester:
    proxies = services().settings.trusted_proxies
    return Requester(
        api_key(),
        client_address(),
        request.headers.get("X-Webhook-Secret"),
        is_of_one_client(request.environ, proxies),
    )


def _id(text: str, name: str = "id") -> int:
    return parameters.integer_text({name: text}, name, default=0, least=1)


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
        raise InvalidParameter("eventTypes contains a duplicate.", field="eventTypes")
    return names


def _topics(body: Mapping[str, Any], event_types: Collection[str]) -> str | None:
    """Return the topics that logs must have, as JSON: at each position null, a topic or several."""
    value = body.get("topics")
    if value is None:
        return None
    if "log" not in event_types:
        raise InvalidParameter("topics requires the event type log.", field="topics")
    if not isinstance(value, list) or len(value) > MAX_TOPICS:
        raise InvalidParameter(f"topics must be an array of at most {MAX_TOPICS}.", field="topics")
    return orjson.dumps([_allowed_topics(position) for position in value]).decode()


def _allowed_topics(value: object) -> object:
    """Return the topics that are allowed at one position."""
    if value is None:
        return None
    if not isinstance(value, list):
        return to_hex(parameters.hash32(value, "topics"))
    if not 1 <= len(value) <= MAX_TOPICS_PER_POSITION:
        raise InvalidParameter(
            f"An array in topics must have 1 to {MAX_TOPICS_PER_POSITION} topics.", field="topics"
        )
    return [to_hex(parameters.hash32(topic, "topics")) for topic in value]
