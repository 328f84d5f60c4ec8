"""What a reorganisation does to events: unsent ones are cancelled, sent ones revoked."""

import threading

from tests.support import WAIT_S, made_blocks, serving
from tests.support.receiver import Answer
from tests.support.webhooks import QUICK

OWNER, OTHER = made_blocks.address("owner"), made_blocks.address("other")


def test_a_fork_cancels_what_was_not_sent_and_revokes_what_was(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    hashes = [webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])[0].hex() for _ in range(3)]
    with webhooks.delivering():
        originals = receiver.wait_for(3)
        serving.wait_until(lambda: not webhooks.pending())
    unsent = webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
    webhooks.chain.unwind(0)
    again = webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
    with webhooks.delivering(confirmations=0):
        requests = receiver.wait_for(6)
        serving.wait_until(lambda: not webhooks.pending())
    events = [(r.event["data"]["hash"][2:], r.event["data"].get("removed")) for r in requests[3:]]
    assert events == [(hashes[2], True), (hashes[1], True), (again[0].hex(), None)]
    assert len(receiver.received) == 6
    for removal, original in zip(requests[3:5], (originals[2], originals[1]), strict=True):
        assert removal.delivery != original.delivery
        assert removal.is_signed_with(hook.secret)
        event = removal.event
        del event["data"]["removed"]
        assert event == original.event
    [cancelled] = [d for d in webhooks.deliveries(hook) if d["status"] == "cancelled"]
    assert cancelled["payload"]["data"]["hash"] == f"0x{unsent[0].hex()}"
    path = f"/api/v1/webhooks/{hook.id}/deliveries/{cancelled['id']}/retry"
    assert webhooks.client.post(path, headers=hook.headers).status_code == 400


def test_an_event_under_way_while_its_block_is_orphaned_is_revoked(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    answering = threading.Event()

    def wait_first(_, _received):
        answering.wait(WAIT_S)
        return Answer()

    receiver.behaviour = wait_first
    webhooks.chain.append()
    with webhooks.delivering():
        webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
        receiver.wait_for(1)
        webhooks.chain.unwind(0)
        answering.set()
        receiver.wait_for(2)
        serving.wait_until(lambda: not webhooks.pending())
    assert [r.event["data"].get("removed") for r in receiver.received] == [None, True]
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["cancelled", "delivered"]


def test_what_no_receiver_saw_is_not_revoked(webhooks, receiver):
    hook = webhooks.register(OWNER, "https://localhost:1/")
    webhooks.chain.append()
    with webhooks.delivering(QUICK._replace(retry_steps_s=(60.0,))):
        webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
        serving.wait_until(lambda: webhooks.record(OWNER, hook)["failCount"] == 1)
        webhooks.chain.unwind(0)
    assert [d["status"] for d in webhooks.deliveries(hook)] == ["cancelled"]
