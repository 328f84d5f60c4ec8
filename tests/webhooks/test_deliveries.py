"""Deliveries from the queues to real HTTPS receivers: what, in which order, how often."""

import logging

import pytest

from tests.support.made_blocks import Move, address
from tests.support.receiver import Answer
from tests.support.serving import wait_until
from tests.support.webhooks import QUICK

OWNER, OTHER = address("owner"), address("other")


def test_an_event_reaches_its_receiver_signed(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url("/hook?token=1#part"))
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        [received] = receiver.wait_for(1)
    assert received.path == "/hook?token=1"
    assert received.is_signed_with(hook.secret)
    assert received.headers["X-Scan-Event"] == "tx"
    assert received.headers["User-Agent"] == "Scan-Webhook/1.0"
    assert received.headers["Content-Type"] == "application/json"
    assert [received.event] == [delivery["payload"] for delivery in webhooks.deliveries(hook)]


def test_a_failed_attempt_is_logged_with_the_host_alone(webhooks, receiver, caplog):
    """Paths and query strings of receivers often hold credentials."""
    receiver.behaviour = lambda *_: Answer(500)
    webhooks.register(OWNER, receiver.url("/secret?token=secret"))
    webhooks.chain.append([Move(OWNER, OTHER)])
    with caplog.at_level(logging.INFO), webhooks.delivering():
        receiver.wait_for(1)
        wait_until(lambda: "HTTP 500" in caplog.text)
    assert " to localhost:" in caplog.text and "secret" not in caplog.text


def test_first_attempts_keep_chain_order_though_some_fail(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url(), ["tx", "token_transfer"])
    for _ in range(5):
        webhooks.chain.append([Move(OWNER, OTHER, tokens=1), Move(OTHER, OWNER)])
    failed = set()

    def fail_every_third_once(_, received):
        if len(receiver.received) % 3 == 0 and received.delivery not in failed:
            failed.add(received.delivery)
            return Answer(503)
        return Answer()

    receiver.behaviour = fail_every_third_once
    with webhooks.delivering():
        wait_until(lambda: not webhooks.pending())
    first = {r.delivery: r for r in reversed(receiver.received)}.values()
    positions = [
        (r.event["data"]["blockNumber"], int(r.delivery)) for r in sorted(first, key=lambda r: r.at)
    ]
    assert positions == sorted(positions) and len(positions) == 15
    assert len(failed) > 2
    assert {d["status"] for d in webhooks.deliveries(hook)} == {"delivered"}


def test_a_retry_sends_the_same_bytes_under_the_same_id(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    receiver.behaviour = lambda *_: Answer(500)
    with webhooks.delivering():
        receiver.wait_for(2)
        assert webhooks.record(OWNER, hook)["failCount"] >= 1
        assert webhooks.record(OWNER, hook)["lastTriggeredAt"] is not None
        receiver.behaviour = lambda *_: Answer(200, body=b"thanks")
        wait_until(lambda: not webhooks.pending())
    assert (
        len({(r.delivery, r.body, r.headers["X-Scan-Signature"]) for r in receiver.received}) == 1
    )
    assert webhooks.record(OWNER, hook)["failCount"] == 0
    [delivery] = webhooks.deliveries(hook)
    assert (delivery["status"], delivery["responseCode"]) == ("delivered", 200)
    assert delivery["attempts"] == len(receiver.received)


def test_a_webhook_that_runs_out_of_retries_is_stopped(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    receiver.behaviour = lambda *_: Answer(500)
    with webhooks.delivering(QUICK._replace(retry_steps_s=(0.01, 0.01))):
        wait_until(lambda: not webhooks.record(OWNER, hook)["active"])
        webhooks.chain.append([Move(OWNER, OTHER)])
    [delivery] = webhooks.deliveries(hook)
    assert len(receiver.received) == delivery["attempts"] == 3
    assert (delivery["status"], delivery["responseCode"]) == ("failed", 500)
    record = webhooks.record(OWNER, hook)
    assert (record["active"], record["failCount"]) == (False, 3)
    receiver.behaviour = lambda *_: Answer()
    webhooks.switch(hook, active=True)
    assert webhooks.record(OWNER, hook)["failCount"] == 0
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        assert receiver.wait_for(4)[3].event["data"]["blockNumber"] == 2


@pytest.mark.thorough
def test_a_success_meanwhile_keeps_a_webhook_active(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())

    receiver.behaviour = lambda _, received: Answer(
        500 if received.event["data"]["blockNumber"] == 0 else 204
    )
    webhooks.chain.append([Move(OWNER, OTHER)])
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering(QUICK._replace(retry_steps_s=(0.1, 0.1))):
        wait_until(lambda: not webhooks.pending())
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["failed", "delivered"]
    assert webhooks.record(OWNER, hook)["active"]


def test_410_stops_a_webhook_and_cancels_what_waits(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    for _ in range(3):
        webhooks.chain.append([Move(OWNER, OTHER)])
    receiver.behaviour = lambda *_: Answer(410)
    with webhooks.delivering():
        wait_until(lambda: not webhooks.record(OWNER, hook)["active"])
        wait_until(lambda: not webhooks.pending())
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["failed", "cancelled", "cancelled"]
    assert len(receiver.received) == 1
