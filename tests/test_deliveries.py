"""Deliveries from the outbox to real HTTPS receivers: what, in which order, how often."""

import socket
import threading
import time
from collections import Counter
from datetime import timedelta

from scan.db import Database
from scan.delivery.queues import DELIVERED_KEPT, GIVEN_UP_KEPT, MOST_UNHEALTHY_PER_HOST, now
from tests.blocks import TOKEN, Move, address
from tests.receiver import Answer, Handler, Received, Receiver
from tests.webhooks import QUICK, Webhooks, wait_until

OWNER, OTHER = address("owner"), address("other")


def fail(_handler: Handler, _received: Received) -> Answer:
    return Answer(500)


def test_an_event_reaches_its_receiver_signed(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url("/hook?token=1#part"))
    [transaction] = webhooks.chain.append([Move(OWNER, OTHER, value=2**255)])
    with webhooks.delivering():
        [received] = receiver.wait_for(1)
    assert received.path == "/hook?token=1"
    assert received.is_signed_with(hook.secret)
    assert received.headers["X-Scan-Event"] == "tx"
    assert received.headers["User-Agent"] == "Scan-Webhook/1.0"
    assert received.headers["Content-Type"] == "application/json"
    assert received.event == {
        "event": "tx",
        "timestamp": "2023-11-14T22:13:20Z",
        "data": {
            "hash": f"0x{transaction.hex()}",
            "from": f"0x{OWNER.hex()}",
            "to": f"0x{OTHER.hex()}",
            "value": str(2**255),
            "blockNumber": 0,
            "status": True,
            "contractAddress": None,
        },
    }


def test_a_transfer_carries_its_token_and_place(webhooks: Webhooks, receiver: Receiver) -> None:
    webhooks.register(OWNER, receiver.url(), ["token_transfer"])
    webhooks.chain.append([Move(OTHER, OTHER)])
    _, transaction = webhooks.chain.append([Move(OTHER, OTHER), Move(OTHER, OWNER, tokens=7)])
    with webhooks.delivering():
        [received] = receiver.wait_for(1)
    assert received.headers["X-Scan-Event"] == received.event["event"] == "token_transfer"
    assert received.event["timestamp"] == "2023-11-14T22:13:32Z"
    assert received.event["data"] == {
        "hash": f"0x{transaction.hex()}",
        "from": f"0x{OTHER.hex()}",
        "to": f"0x{OWNER.hex()}",
        "value": "7",
        "blockNumber": 1,
        "tokenAddress": f"0x{TOKEN.hex()}",
        "tokenType": "BEP20",
        "tokenId": None,
        "logIndex": 1,
        "batchIndex": 0,
    }


def test_each_party_is_told_once_and_nobody_else(webhooks: Webhooks, receiver: Receiver) -> None:
    created = address("created")
    for path, watched, types in (
        ("/owner", OWNER, ["tx", "token_transfer"]),
        ("/created", created, ["tx"]),
        ("/token", TOKEN, ["tx", "token_transfer"]),
    ):
        webhooks.register(OTHER, receiver.url(path), types, watch_address=watched)
    webhooks.chain.append([Move(OWNER, OWNER, tokens=1), Move(OTHER, OTHER, tokens=1)])
    webhooks.chain.append([Move(OTHER, None, contract=created), Move(OTHER, OWNER)])
    with webhooks.delivering():
        receiver.wait_for(4)
        wait_until(lambda: not webhooks.pending())
    found = Counter((r.path, r.event["event"]) for r in receiver.received)
    assert found == {("/owner", "tx"): 2, ("/owner", "token_transfer"): 1, ("/created", "tx"): 1}
    [creation] = [r.event["data"] for r in receiver.received if r.path == "/created"]
    assert creation["to"] is None
    assert creation["contractAddress"] == f"0x{created.hex()}"


def test_nothing_of_before_the_registration_is_told(webhooks: Webhooks, receiver: Receiver) -> None:
    webhooks.chain.append([Move(OWNER, OTHER)])
    webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        wait_until(lambda: not webhooks.pending())
    assert [r.event["data"]["blockNumber"] for r in receiver.received] == [1]


def test_first_attempts_keep_chain_order_though_some_fail(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    hook = webhooks.register(OWNER, receiver.url(), ["tx", "token_transfer"])
    for _ in range(10):
        webhooks.chain.append([Move(OWNER, OTHER, tokens=1), Move(OTHER, OWNER)])
    failed: set[str] = set()

    def fail_every_third_once(_: Handler, received: Received) -> Answer:
        if len(receiver.received) % 3 == 0 and received.delivery not in failed:
            failed.add(received.delivery)
            return Answer(503)
        return Answer()

    receiver.behaviour = fail_every_third_once
    with webhooks.delivering():
        wait_until(lambda: not webhooks.pending())
    first_attempts = list({r.delivery: r for r in reversed(receiver.received)}.values())[::-1]
    first_attempts.sort(key=lambda r: r.at)
    places = [
        (r.event["data"]["blockNumber"], r.event["data"].get("logIndex", -1))
        for r in first_attempts
    ]
    assert len(places) == 30
    assert [block for block, _ in places] == sorted(block for block, _ in places)
    assert [int(r.delivery) for r in first_attempts] == sorted(
        int(r.delivery) for r in first_attempts
    )
    assert len(failed) > 3
    assert {d["status"] for d in webhooks.deliveries(hook)} == {"delivered"}


def test_a_retry_sends_the_same_bytes_under_the_same_id(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    receiver.behaviour = fail
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


def test_a_webhook_that_runs_out_of_retries_is_stopped(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    receiver.behaviour = fail
    with webhooks.delivering(QUICK._replace(retry_steps_s=(0.01, 0.01))):
        wait_until(lambda: not webhooks.record(OWNER, hook)["active"])
        webhooks.chain.append([Move(OWNER, OTHER)])
    [delivery] = webhooks.deliveries(hook)
    assert len(receiver.received) == delivery["attempts"] == 3
    assert (delivery["status"], delivery["responseCode"]) == ("failed", 500)
    record = webhooks.record(OWNER, hook)
    assert (record["active"], record["failCount"]) == (False, 3)
    receiver.behaviour = lambda *_: Answer()
    webhooks.client.patch(f"/api/v1/webhooks/{hook.id}", json={"active": True})
    assert webhooks.record(OWNER, hook)["failCount"] == 0
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        assert receiver.wait_for(4)[3].event["data"]["blockNumber"] == 2


def test_a_success_meanwhile_keeps_a_webhook_active(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url())

    def fail_first_block(_: Handler, received: Received) -> Answer:
        return Answer(500 if received.event["data"]["blockNumber"] == 0 else 204)

    receiver.behaviour = fail_first_block
    webhooks.chain.append([Move(OWNER, OTHER)])
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering(QUICK._replace(retry_steps_s=(0.2, 0.2))):
        wait_until(lambda: not webhooks.pending())
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["failed", "delivered"]
    assert webhooks.record(OWNER, hook)["active"]


def test_410_stops_a_webhook_and_cancels_what_waits(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    for _ in range(3):
        webhooks.chain.append([Move(OWNER, OTHER)])
    receiver.behaviour = lambda *_: Answer(410)
    with webhooks.delivering():
        wait_until(lambda: not webhooks.record(OWNER, hook)["active"])
        wait_until(lambda: not webhooks.pending())
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["failed", "cancelled", "cancelled"]
    assert len(receiver.received) == 1


def test_retry_after_is_waited_out(webhooks: Webhooks, receiver: Receiver) -> None:
    webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])

    def busy_once(_: Handler, _received: Received) -> Answer:
        first = len(receiver.received) == 1
        return Answer(503, (("Retry-After", "2"),)) if first else Answer()

    receiver.behaviour = busy_once
    with webhooks.delivering(QUICK._replace(retry_steps_s=(0.6, 1.0))):
        first, second = receiver.wait_for(2)
    # Asked for two seconds, which is more than twice the step: 1.2 s.
    assert second.at - first.at > 1.1


def test_events_wait_for_their_confirmations(webhooks: Webhooks, receiver: Receiver) -> None:
    webhooks.register(OWNER, receiver.url())
    with webhooks.delivering(confirmations=3):
        for _ in range(5):
            webhooks.chain.append([Move(OWNER, OTHER)])
        wait_until(lambda: webhooks.pending() == 3)
        webhooks.chain.append()
        wait_until(lambda: webhooks.pending() == 2)
    assert [r.event["data"]["blockNumber"] for r in receiver.received] == [0, 1, 2]


def test_a_fork_cancels_what_was_not_sent_and_revokes_what_was(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    hashes = [webhooks.chain.append([Move(OWNER, OTHER)])[0].hex() for _ in range(3)]
    with webhooks.delivering():
        sent = receiver.wait_for(3)
        wait_until(lambda: not webhooks.pending())
    unsent = webhooks.chain.append([Move(OWNER, OTHER)])
    webhooks.chain.unwind(0)
    again = webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering(confirmations=0):
        found = receiver.wait_for(6)
        wait_until(lambda: not webhooks.pending())
    told = [(r.event["data"]["hash"][2:], r.event["data"].get("removed")) for r in found[3:]]
    assert told == [(hashes[2], True), (hashes[1], True), (again[0].hex(), None)]
    assert len(receiver.received) == 6
    for removal, original in zip(found[3:5], (sent[2], sent[1]), strict=True):
        assert removal.delivery != original.delivery
        assert removal.is_signed_with(hook.secret)
        event = removal.event
        del event["data"]["removed"]
        assert event == original.event
    [cancelled] = [d for d in webhooks.deliveries(hook) if d["status"] == "cancelled"]
    assert cancelled["payload"]["data"]["hash"] == f"0x{unsent[0].hex()}"
    path = f"/api/v1/webhooks/{hook.id}/deliveries/{cancelled['id']}/retry"
    assert webhooks.client.post(path).status_code == 400


def test_a_second_fork_does_not_revoke_again(webhooks: Webhooks, receiver: Receiver) -> None:
    webhooks.register(OWNER, receiver.url())
    webhooks.chain.append()
    with webhooks.delivering():
        webhooks.chain.append([Move(OWNER, OTHER)])
        receiver.wait_for(1)
        webhooks.chain.unwind(0)
        receiver.wait_for(2)
        webhooks.chain.append()
        webhooks.chain.unwind(0)
        webhooks.chain.append([Move(OWNER, OTHER)])
        receiver.wait_for(3)
    assert [r.event["data"].get("removed") for r in receiver.received] == [None, True, None]


def test_an_event_under_way_while_its_block_is_orphaned_is_revoked(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    answering = threading.Event()

    def wait_first(_: Handler, _received: Received) -> Answer:
        answering.wait(10)
        return Answer()

    receiver.behaviour = wait_first
    webhooks.chain.append()
    with webhooks.delivering():
        webhooks.chain.append([Move(OWNER, OTHER)])
        receiver.wait_for(1)
        webhooks.chain.unwind(0)
        answering.set()
        receiver.wait_for(2)
        wait_until(lambda: not webhooks.pending())
    assert [r.event["data"].get("removed") for r in receiver.received] == [None, True]
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["cancelled", "delivered"]


def test_what_no_receiver_saw_is_not_revoked(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, "https://localhost:1/")
    webhooks.chain.append()
    with webhooks.delivering(QUICK._replace(retry_steps_s=(60.0,))):
        webhooks.chain.append([Move(OWNER, OTHER)])
        wait_until(lambda: webhooks.record(OWNER, hook)["failCount"] == 1)
        webhooks.chain.unwind(0)
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["cancelled"]


def test_a_commit_wakes_the_delivery_without_a_poll(webhooks: Webhooks, receiver: Receiver) -> None:
    webhooks.register(OWNER, receiver.url())
    with webhooks.delivering(QUICK._replace(poll_s=600.0)):
        for count in range(1, 6):
            webhooks.chain.append([Move(OWNER, OTHER)])
            receiver.wait_for(count, timeout_s=20)


def test_two_pools_share_the_work_without_sending_twice(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    for number in range(20):
        webhooks.register(address(f"owner {number}"), receiver.url(), watch_address=OWNER)
    for _ in range(5):
        webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering(), webhooks.delivering():
        receiver.wait_for(100)
        wait_until(lambda: not webhooks.pending())
    assert len(receiver.received) == len({r.delivery for r in receiver.received}) == 100


def test_told_to_stop_a_pool_gives_its_leases_back(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])

    def hang(_: Handler, _received: Received) -> None:
        receiver.closing.wait(30)

    receiver.behaviour = hang
    with webhooks.delivering():
        receiver.wait_for(1)
    [delivery] = webhooks.deliveries(hook)
    assert (delivery["status"], delivery["attempts"]) == ("pending", 0)
    assert webhooks.record(OWNER, hook)["failCount"] == 0
    receiver.behaviour = lambda *_: Answer()
    with webhooks.delivering():
        first, second = receiver.wait_for(2, timeout_s=10)
        wait_until(lambda: not webhooks.pending())
    assert first.delivery == second.delivery


def test_hanging_and_failing_receivers_leave_the_healthy_ones_alone(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    """Ten healthy ones get everything while the hanging one still hangs on its first event."""
    for number in range(10):
        webhooks.register(
            address(f"owner {number}"), receiver.url(f"/{number}"), watch_address=OWNER
        )
    webhooks.register(OWNER, receiver.url("/hang"))
    webhooks.register(OWNER, receiver.url("/fail"))

    def behave(_: Handler, received: Received) -> Answer | None:
        if received.path == "/hang":
            receiver.closing.wait(60)
            return None
        return Answer(500 if received.path == "/fail" else 204)

    receiver.behaviour = behave
    with webhooks.delivering(QUICK._replace(retry_steps_s=(0.1,) * 100)):
        for _ in range(20):
            webhooks.chain.append([Move(OWNER, OTHER)])
        for number in range(10):
            receiver.wait_for(20, path=f"/{number}")
        assert len(receiver.wait_for(1, path="/hang")) == 1
        receiver.wait_for(5, path="/fail")


def test_many_hanging_receivers_do_not_take_the_threads_of_proven_ones(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    webhooks.register(OWNER, receiver.url())
    # Connections wait in its backlog for a handshake that never comes.
    with socket.create_server(("", 0), backlog=128) as silent, webhooks.delivering():
        webhooks.chain.append([Move(OWNER, OTHER)])
        wait_until(lambda: receiver.received and not webhooks.pending())
        for number in range(1, 31):
            # A host each: it is not the bound per host that is to help.
            url = f"https://127.0.1.{number}:{silent.getsockname()[1]}/"
            webhooks.register(address(url), url, watch_address=OTHER)
        for count in range(2, 7):
            webhooks.chain.append([Move(OWNER, OTHER)])
            receiver.wait_for(count, timeout_s=8)


def test_one_host_is_sent_only_so_many_at_once(webhooks: Webhooks, receiver: Receiver) -> None:
    for number in range(15):
        webhooks.register(address(f"owner {number}"), receiver.url(), watch_address=OWNER)
    at_once: list[int] = []
    under_way: list[Received] = []

    def count(_: Handler, received: Received) -> Answer:
        under_way.append(received)
        at_once.append(len(under_way))
        time.sleep(0.1)
        under_way.remove(received)
        return Answer()

    receiver.behaviour = count
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        receiver.wait_for(15)
    assert 1 < max(at_once) <= MOST_UNHEALTHY_PER_HOST  # as new ones are


def test_old_deliveries_are_swept_in_batches(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    for _ in range(4):
        webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        receiver.wait_for(4)
        wait_until(lambda: not webhooks.pending())
    assert sweep(webhooks.database, hours=23) == 0
    assert sweep(webhooks.database, hours=25, limit=3, finality=0) == 3
    assert sweep(webhooks.database, hours=25, limit=3, finality=1) == 0
    assert sweep(webhooks.database, hours=25, limit=3, finality=0) == 1
    assert webhooks.deliveries(hook) == []


def sweep(database: Database, hours: int, limit: int = 10, finality: int = 0) -> int:
    later = now() + timedelta(hours=hours)
    return int(
        database.value(
            "deliveries_sweep",
            delivered_before=later - DELIVERED_KEPT,
            given_up_before=later - GIVEN_UP_KEPT,
            finality=finality,
            limit=limit,
        )
    )
