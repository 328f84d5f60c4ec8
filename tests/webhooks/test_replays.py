"""What a receiver has missed is sent again, of a span of time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from scan.webhooks import registration
from tests.support.made_blocks import Move, address
from tests.support.receiver import Answer
from tests.support.serving import wait_until

OWNER = address("owner")
ALL = {"timeFrom": 0}


def replay(webhooks, hook, **body):
    path = f"/api/v1/webhooks/{hook.id}/replay"
    return webhooks.client.post(path, json=body, headers=hook.headers)


@pytest.fixture
def missed(webhooks, receiver):
    """A webhook with five events that its receiver refused, and that is active again."""
    hook = webhooks.register(OWNER, receiver.url())
    for _ in range(5):
        webhooks.chain.append([Move(OWNER, OWNER)])
    receiver.behaviour = lambda *_: Answer(410)
    with webhooks.delivering():
        wait_until(lambda: webhooks.pending() == 0)
    receiver.behaviour = lambda *_: Answer()
    assert {d["status"] for d in webhooks.deliveries(hook)} == {"failed", "cancelled"}
    webhooks.switch(hook, active=True)
    receiver.received.clear()
    return hook


def test_missed_events_are_sent_in_their_order_with_their_first_ids(webhooks, receiver, missed):
    before = webhooks.deliveries(missed)
    answer = replay(webhooks, missed, **ALL)
    assert (answer.status_code, answer.get_json()) == (202, {"replayed": 5, "more": False})
    with webhooks.delivering():
        received = receiver.wait_for(5)
        wait_until(lambda: webhooks.pending() == 0)
    assert [r.delivery for r in received] == [str(delivery["id"]) for delivery in before]
    assert [r.headers["Webhook-Id"] for r in received] == [r.delivery for r in received]
    assert [r.event for r in received] == [delivery["payload"] for delivery in before]
    assert replay(webhooks, missed, **ALL).get_json() == {"replayed": 0, "more": False}


def test_only_those_of_the_span_are_sent(webhooks, missed):
    ids = [delivery["id"] for delivery in webhooks.deliveries(missed)]
    now = datetime.now(UTC).replace(microsecond=900_000)
    for number, id_ in enumerate(ids):
        at = now - timedelta(hours=number)
        webhooks.execute("UPDATE deliveries SET created_at = %s WHERE id = %s", at, id_)
    first, last = (f"{now - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}" for hours in (3, 1))
    answer = replay(webhooks, missed, timeFrom=first, timeTo=last)
    assert answer.get_json() == {"replayed": 3, "more": False}
    pending = [d["id"] for d in webhooks.deliveries(missed) if d["status"] == "pending"]
    assert pending == ids[1:4]


@pytest.mark.thorough
def test_events_that_arrived_or_whose_block_is_gone_are_not_sent(webhooks, receiver, missed):
    webhooks.chain.append([Move(OWNER, OWNER)])
    with webhooks.delivering():
        receiver.wait_for(1)
        wait_until(lambda: webhooks.pending() == 0)
    webhooks.chain.unwind(webhooks.chain.number - 2)
    assert replay(webhooks, missed, **ALL).get_json()["replayed"] == 4


def waiting(webhooks, count, size=0):
    """As if so many deliveries of the webhook waited already."""
    webhooks.execute(
        "UPDATE delivery_queues SET pending_count = %s, pending_bytes = %s", count, size
    )


def test_a_replay_has_parts_and_none_is_sent_twice(webhooks, receiver, missed):
    waiting(webhooks, registration.MAX_WAITING - 2)
    begin = threading.Barrier(4)

    def ask(_):
        begin.wait()
        return replay(webhooks, missed, **ALL).get_json()

    with ThreadPoolExecutor(4) as pool:
        answers = [*pool.map(ask, range(4))]
    assert sorted(answer["replayed"] for answer in answers) == [0, 0, 2, 3]
    assert [answer["more"] for answer in answers].count(True) == 1
    with webhooks.delivering():
        wait_until(lambda: webhooks.pending() == 0)
    assert len(receiver.received) == 5


def test_no_queue_is_filled_until_its_webhook_is_stopped(webhooks, missed):
    """One of more than 10,000 events or 32 MiB stops its webhook with the next event."""
    [(size,)] = webhooks.execute("SELECT max(body_bytes) FROM deliveries")
    waiting(webhooks, registration.MAX_WAITING)
    full = replay(webhooks, missed, **ALL)
    assert (full.status_code, full.get_json()["code"]) == (409, "limit_reached")
    waiting(webhooks, 0, registration.MAX_BYTES_WAITING - 3 * size)
    assert replay(webhooks, missed, **ALL).get_json() == {"replayed": 3, "more": True}
    assert webhooks.execute("SELECT pending_count FROM delivery_queues") == [(3,)]


@pytest.mark.thorough
def test_spans_are_times_and_webhooks_active_and_ones_own(webhooks, missed):
    for body in ({}, {"timeFrom": "x"}, {"timeFrom": -1}, {"timeFrom": 0, "timeTo": None}):
        assert replay(webhooks, missed, **body).status_code == 400, body
    assert replay(webhooks, missed, **ALL, timeTo=10**12 - 1).status_code == 202
    assert replay(webhooks, missed._replace(secret="0"), **ALL).status_code == 403
    webhooks.switch(missed, active=False)
    assert replay(webhooks, missed, **ALL).status_code == 400
