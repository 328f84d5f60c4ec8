"""Deliveries from the outbox to real HTTPS receivers."""

from tests.blocks import Move, address
from tests.receiver import Receiver
from tests.webhooks import Webhooks

OWNER = address("owner")
OTHER = address("other")


def test_an_event_reaches_its_receiver_signed(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url("/hook?token=1"))
    webhooks.chain.append([Move(OWNER, OTHER, value=2**255)])
    with webhooks.delivering():
        [received] = receiver.wait_for(1)
    assert received.path == "/hook?token=1"
    assert received.is_signed_with(hook.secret)
    assert received.headers["X-Scan-Event"] == "tx"
    assert received.headers["User-Agent"] == "Scan-Webhook/1.0"
    assert received.headers["Content-Type"] == "application/json"
    event = received.event
    assert event["timestamp"] == "2023-11-14T22:13:20Z"
    assert event["data"]["value"] == str(2**255)
