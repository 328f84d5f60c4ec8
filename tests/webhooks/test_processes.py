"""Processes that deliver: killed at any moment they lose no event, told to stop they end well."""

import random
import threading
import time

import pytest

from tests.support import WAIT_S, made_blocks
from tests.support.receiver import Answer
from tests.support.serving import free_port, wait_until
from tests.support.webhooks import NO_NODE, Deliverer

pytestmark = pytest.mark.thorough

OWNERS = [made_blocks.address(f"owner {number}") for number in range(10)]


def test_kills_lose_no_event(webhooks, receiver):
    for owner in OWNERS:
        webhooks.register(owner, receiver.url(f"/{owner.hex()}"))
    expected = []

    def feed(blocks):
        """1,000 events over the time that the kills take: owner and transaction of each."""
        for _ in range(blocks):
            hashes = webhooks.chain.append([made_blocks.Move(owner, bytes(20)) for owner in OWNERS])
            events = zip(OWNERS, hashes, strict=True)
            expected.extend((owner.hex(), f"0x{hash_.hex()}") for owner, hash_ in events)
            time.sleep(0.1)

    feeder = threading.Thread(target=feed, args=[100])
    feeder.start()
    chance = random.Random(6)
    kills = 25
    for _ in range(kills):
        already = len(receiver.received)
        with Deliverer(webhooks) as deliverer:
            wait_until(lambda n=already: len(receiver.received) > n or not webhooks.pending())
            time.sleep(chance.uniform(0.0, 0.2))
            deliverer.kill()
    feeder.join()
    with Deliverer(webhooks) as deliverer:
        feed(1)
        wait_until(lambda: not webhooks.pending())
        assert deliverer.terminate() == 0, "told to stop, it ends well"
    events = {(r.path[1:], r.event["data"]["hash"]) for r in receiver.received}
    assert len(expected) == 101 * len(OWNERS)
    assert events == set(expected), "none is lost"
    deliveries = {(r.delivery, r.path, r.body) for r in receiver.received}
    assert len(deliveries) == len(expected), "a repeated one is the same to the byte"
    assert len({delivery for delivery, _, _ in deliveries}) == len(expected)


def test_the_api_process_delivers_and_gives_its_leases_back(webhooks, receiver):
    webhooks.register(OWNERS[0], receiver.url())
    with Deliverer(webhooks, "serve", RPC_URL=NO_NODE, PORT=str(free_port())) as api:
        webhooks.chain.append([made_blocks.Move(OWNERS[0], OWNERS[1])])
        wait_until(lambda: receiver.received and not webhooks.pending())
        receiver.behaviour = lambda *_: receiver.closing.wait(WAIT_S) and None
        webhooks.chain.append([made_blocks.Move(OWNERS[0], OWNERS[1])])
        receiver.wait_for(2)
        assert api.terminate() == 0
    receiver.behaviour = lambda *_: Answer()
    with Deliverer(webhooks):
        receiver.wait_for(3)
        wait_until(lambda: not webhooks.pending())
    first, second, third = receiver.received
    assert first.delivery != second.delivery == third.delivery
