"""What one contract's logs cost everybody else: bodies stored once, and bounded in bytes."""

import json
import os
import threading
from contextlib import closing

import psycopg2

from scan.ethereum.blocks import EventLog
from tests.support import WAIT_S
from tests.support.database import execute
from tests.support.made_blocks import Move, address
from tests.support.serving import wait_until
from tests.support.webhooks import assert_bytes_are_counted

URL = "https://localhost:1/"
OWNER, EMITTER, OTHER = address("owner"), address("emitter"), address("other")
MAX_DATA_BYTES = 16_384


def log(log_index, size, emitter=EMITTER):
    return EventLog(0, log_index, emitter, (), os.urandom(size))


def bodies(webhooks):
    return [str(body) for (body,) in webhooks.execute("SELECT body FROM event_bodies ORDER BY id")]


def test_data_of_a_log_is_sent_up_to_16_384_bytes_and_left_out_above(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url(), ("log",), EMITTER)
    logs = [log(0, 0), log(1, MAX_DATA_BYTES), log(2, MAX_DATA_BYTES + 1)]
    webhooks.chain.append([Move(OTHER, EMITTER)], logs)
    with webhooks.delivering():
        received = receiver.wait_for(3)
    assert all(r.is_signed_with(hook.secret) for r in received)
    data = [r.event["data"] for r in received]
    assert [d["data"] for d in data] == ["0x", f"0x{logs[1].data.hex()}", None]
    assert [d.get("dataOmitted") for d in data] == [None, None, True]
    assert max(len(r.body) for r in received) < 2 * MAX_DATA_BYTES + 2000
    listed = [d["payload"] for d in webhooks.deliveries(hook)]
    assert listed == [json.loads(r.body) for r in received]


def test_a_body_is_stored_once_and_sent_to_each_with_its_own_signature(webhooks, receiver):
    hooks = {
        f"/{n}": webhooks.register(address(f"owner {n}"), receiver.url(f"/{n}"), ("tx",), OWNER)
        for n in range(5)
    }
    webhooks.chain.append()
    webhooks.chain.append([Move(OWNER, OTHER)])
    assert len(bodies(webhooks)) == 1
    with webhooks.delivering():
        sent = receiver.wait_for(5)
        wait_until(lambda: not webhooks.pending())
        webhooks.chain.unwind(0)
        revoked = receiver.wait_for(10)[5:]
        wait_until(lambda: not webhooks.pending())
    assert {r.body for r in sent} == {bodies(webhooks)[0].encode()}
    assert {r.body for r in revoked} == {bodies(webhooks)[1].encode()}
    assert len(bodies(webhooks)) == 2
    for received in (*sent, *revoked):
        assert received.is_signed_with(hooks[received.path].secret)
    assert b" " not in revoked[0].body and list(revoked[0].event) == ["event", "timestamp", "data"]
    assert_bytes_are_counted(webhooks)


def test_a_block_stores_a_bounded_number_of_bytes_whatever_is_registered(webhooks):
    """Forty webhooks share what is stored once; the contract with the most bytes loses its."""
    small, large = address("small"), address("large")
    on_small = [webhooks.register(address(f"owner {n}"), URL, ("log",), small) for n in range(20)]
    on_large = [webhooks.register(address(f"owner {n}"), URL, ("log",), large) for n in range(20)]
    quiet = webhooks.register(OTHER, URL, ("tx",), small)
    emitted = [log(n, MAX_DATA_BYTES, small) for n in range(100)]
    emitted += [log(100 + n, MAX_DATA_BYTES, large) for n in range(200)]
    webhooks.chain.append([Move(OTHER, small)], emitted)
    most = "its owner or its network had the most bytes of a full block"
    for hooks, reason in ((on_small, None), (on_large, most)):
        for number, hook in enumerate(hooks):
            record = webhooks.record(address(f"owner {number}"), hook)
            assert (record["active"], record["stoppedReason"]) == (reason is None, reason)
    record = webhooks.record(OTHER, quiet)
    assert (record["active"], record["stoppedReason"]) == (True, None)
    assert len(bodies(webhooks)) == 101
    mib = 1024 * 1024
    assert sum(map(len, bodies(webhooks))) < 8 * mib
    assert_bytes_are_counted(webhooks)


def test_a_body_goes_with_its_last_delivery(webhooks):
    """Also where two transactions delete its last two at the same time."""
    url = webhooks.settings.database_url
    webhooks.register(OWNER, URL)
    webhooks.register(OTHER, URL, ("tx",), OWNER)
    webhooks.chain.append([Move(OWNER, address("nobody"))])
    webhooks.chain.append([Move(OWNER, address("nobody"))])
    [first, second, third, _] = [
        number for (number,) in execute(url, "SELECT id FROM deliveries ORDER BY id")
    ]
    execute(url, "DELETE FROM deliveries WHERE id = %s", third)
    assert len(bodies(webhooks)) == 2
    connections = [psycopg2.connect(url) for _ in range(2)]
    with closing(connections[0]), closing(connections[1]):
        delete = "DELETE FROM deliveries WHERE id = %s"
        connections[0].cursor().execute(delete, [first])  # and holds the body's row
        waiting = threading.Thread(target=connections[1].cursor().execute, args=(delete, [second]))
        waiting.start()
        locked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_until(lambda: execute(url, locked))
        connections[0].commit()
        waiting.join(WAIT_S)
        connections[1].commit()
    assert len(bodies(webhooks)) == 1


def test_deliveries_without_their_bodies_do_not_hold_up_a_reorganisation(webhooks):
    """As where a dump was restored that lacks the table."""
    url = webhooks.settings.database_url
    webhooks.register(OWNER, URL)
    webhooks.chain.append()
    webhooks.chain.append([Move(OWNER, OTHER)])
    execute(url, "UPDATE deliveries SET sent = true")
    execute(url, "DELETE FROM event_bodies")
    webhooks.chain.unwind(0)
    assert execute(url, "SELECT orphaned, count(*) FROM deliveries GROUP BY 1") == [(True, 1)]
