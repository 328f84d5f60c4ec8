"""Who is served when: wake-ups, leases, and receivers that hang beside healthy ones."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.database import connection
from scan.outbound import allowed_urls
from scan.outbound.http_client import AttemptTimeouts
from scan.webhooks import sender
from scan.webhooks.queues import FinishedAttempt, now
from tests.support import WAIT_S, serving
from tests.support.made_blocks import Move, address
from tests.support.webhooks import QUICK

OWNER, OTHER = address("owner"), address("other")
HASTY = QUICK._replace(grace_s=0.1)  # for what hangs until it is ended


def test_a_commit_wakes_the_delivery_without_a_poll(webhooks, receiver):
    webhooks.register(OWNER, receiver.url())
    with webhooks.delivering(QUICK._replace(poll_s=600.0)):
        for count in range(1, 6):
            webhooks.chain.append([Move(OWNER, OTHER)])
            receiver.wait_for(count)


def test_two_dispatchers_share_the_work_without_sending_twice(webhooks, receiver):
    for number in range(20):
        webhooks.register(address(f"owner {number}"), receiver.url(), watch_address=OWNER)
    for _ in range(3):
        webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering(), webhooks.delivering():
        receiver.wait_for(60)
        serving.wait_until(lambda: not webhooks.pending())
    assert len(receiver.received) == len({r.delivery for r in receiver.received}) == 60


@pytest.mark.thorough
def test_many_hanging_receivers_do_not_take_the_threads_of_proven_ones(webhooks, receiver):
    webhooks.register(OWNER, receiver.url())
    # Connections wait in its backlog for a handshake that never comes, longer than this test.
    patient = HASTY._replace(timeouts=AttemptTimeouts(total_s=3600.0, connect_s=3600.0))
    with socket.create_server(("", 0), backlog=128) as silent, webhooks.delivering(patient):
        webhooks.chain.append([Move(OWNER, OTHER)])
        serving.wait_until(lambda: receiver.received and not webhooks.pending())
        for number in range(1, 31):
            # A host each: it is not the bound per host that is to help.
            url = f"https://127.0.1.{number}:{silent.getsockname()[1]}/"
            webhooks.register(address(url), url, watch_address=OTHER)
        for count in range(2, 7):
            webhooks.chain.append([Move(OWNER, OTHER)])
            receiver.wait_for(count)


@pytest.mark.thorough
def test_names_that_hang_take_no_look_ups_of_healthy_receivers(
    webhooks, receiver, monkeypatch, names
):
    """Twelve of them, each tried again and again, while each look-up hangs for good."""
    resolve = allowed_urls.resolve

    def hang(host):
        hanging.append(host)
        receiver.closing.wait(WAIT_S)
        return []

    def hasty_resolve(url, timeout_s, purpose):
        """Of the names that hang alone: the healthy receiver has its time on any machine."""
        return resolve(url, 0.05 if url.host.endswith(".example.com") else timeout_s, purpose)

    hanging = []
    names["example.com"] = hang
    monkeypatch.setattr(allowed_urls, "resolve", hasty_resolve)
    hook = webhooks.register(OWNER, receiver.url())
    with webhooks.delivering(HASTY._replace(retry_steps_s=(0.01,) * 1000)):
        webhooks.chain.append([Move(OWNER, OTHER)])
        serving.wait_until(lambda: receiver.received and not webhooks.pending())
        for number in range(12):
            url = f"https://{number}.example.com/"
            webhooks.register(address(url), url, watch_address=address("busy"))
        webhooks.chain.append([Move(address("busy"), OTHER)] * 10)
        serving.wait_until(lambda: len(hanging) >= 12 + allowed_urls.MAX_LOOKUPS)
        for _ in range(5):
            webhooks.chain.append([Move(OWNER, OTHER)])
        serving.wait_until(lambda: len(receiver.received) == 6)
    assert [d["attempts"] for d in webhooks.deliveries(hook)] == [1] * 6


@pytest.mark.thorough
def test_a_host_takes_four_threads_and_eight_once_its_receivers_are_quick(webhooks):
    """However many of its webhooks have something to send."""
    for number in range(12):
        webhooks.register(address(f"owner {number}"), "https://127.0.0.1:9/", watch_address=OWNER)
    webhooks.chain.append([Move(OWNER, OTHER)])
    queues = webhooks.queues()

    def leases_at_once():
        """By threads for all of the twelve."""
        leases = [queues.claim(healthy_only=False, now=now()) for _ in range(12)]
        claims = [lease for lease in leases if lease]
        for lease in claims:
            queues.settle(lease, (), now(), goes_on=False)
        return len(claims)

    assert leases_at_once() == 4
    while lease := queues.claim(healthy_only=False, now=now()):
        quick = sender.Outcome(204, None, sent=True, seconds=1.9)
        queues.settle(lease, [FinishedAttempt(*lease.first, quick)], now(), goes_on=False)
    webhooks.chain.append([Move(OWNER, OTHER)])
    assert leases_at_once() == 8


def test_a_dead_process_is_found_dead_and_a_living_one_is_not(webhooks, receiver):
    """Also while the indexer holds the queue: nobody waits for it, and so nobody deadlocks."""
    hooks = [
        webhooks.register(address(f"owner {n}"), receiver.url(), watch_address=OWNER)
        for n in range(3)
    ]
    webhooks.chain.append([Move(OWNER, OTHER)])
    living, dead = (webhooks.queues() for _ in range(2))
    webhooks.database.rows("webhooks/dispatchers_register", lease_holder=living.holder)
    leases = [who.claim(healthy_only=False, now=now()) for who in (living, dead, dead)]
    assert {lease.webhook_id for lease in leases if lease} == {hook.id for hook in hooks}
    other = connection.Database(webhooks.settings.database_url, statement_timeout_ms=1000)
    with other.transaction() as tx:
        tx.execute("webhooks/queues_lock", webhook_id=leases[1].webhook_id)
        assert living.end_dead_leases(now()) == 1
    assert living.end_dead_leases(now()) == 1
    assert living.end_dead_leases(now()) == 0
    other.close()


def test_an_outcome_that_is_recorded_twice_counts_once(webhooks):
    """As where the connection is lost while it is committed: the statement runs again."""
    hook = webhooks.register(OWNER, "https://127.0.0.1:9/")
    webhooks.chain.append([Move(OWNER, OTHER)])
    webhooks.chain.append([Move(OWNER, OTHER)])
    queues = webhooks.queues()
    lease = queues.claim(healthy_only=False, now=now())
    failed = FinishedAttempt(*lease.first, sender.Outcome(500, None, sent=True, seconds=0.1))
    once, twice = (queues.settle(lease, [failed], now()) for _ in range(2))
    assert once[0].message == twice[0].message != lease.first[0].message
    assert [d["attempts"] for d in webhooks.deliveries(hook)] == [1, 0]
    assert webhooks.record(OWNER, hook)["failCount"] == 1


def settle_beside_an_event(webhooks, queues, lease, finished, goes_on):
    """Settle a lease while an event is written to its queue; return the next attempt's event, and
    the one that was written."""
    other = connection.Database(webhooks.settings.database_url, statement_timeout_ms=60_000)
    with ThreadPoolExecutor(1) as thread:
        with other.transaction() as tx:
            tx.execute("webhooks/queues_lock", webhook_id=lease.webhook_id)
            settled = thread.submit(queues.settle, lease, finished, now(), goes_on=goes_on)
            serving.wait_until(lambda: webhooks.execute("SELECT 1 FROM pg_locks WHERE NOT granted"))
            event = tx.value(
                "webhooks/deliveries_insert_test", webhook_id=lease.webhook_id, now=now()
            )
            tx.execute("webhooks/queues_count_waiting", webhook_ids=[lease.webhook_id])
        following = settled.result()
        thread.submit(webhooks.database.close).result()
    other.close()
    return following, event


@pytest.fixture
def leased(webhooks):
    """The queues, and a lease of one with an event."""
    webhooks.register(OWNER, "https://127.0.0.1:9/")
    webhooks.chain.append([Move(OWNER, OTHER)])
    queues = webhooks.queues()
    return queues, queues.claim(healthy_only=False, now=now())


def test_an_event_that_is_written_while_an_attempt_is_settled_comes_next(webhooks, leased):
    """Nothing would wake its queue otherwise."""
    queues, lease = leased
    done = FinishedAttempt(*lease.first, sender.Outcome(204, None, sent=True, seconds=0.1))
    following, event = settle_beside_an_event(webhooks, queues, lease, [done], goes_on=True)
    assert [attempt.message.id for attempt in following] == [event]


def test_an_event_that_is_written_while_a_lease_is_given_back_wakes_its_queue(webhooks, leased):
    settle_beside_an_event(webhooks, *leased, (), goes_on=False)
    assert webhooks.execute("SELECT fresh_block, pending_count FROM delivery_queues") == [(-1, 2)]
