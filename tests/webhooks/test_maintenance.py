"""What a dispatcher does besides sending: it removes what is old, and ends leases of the dead."""

from datetime import timedelta

import pytest

from scan.webhooks.queues import DELETE_BATCH, now
from tests.support import made_blocks, serving
from tests.support.webhooks import fill

OWNER, OTHER = made_blocks.address("owner"), made_blocks.address("other")


def statuses(webhooks):
    return [status for (status,) in webhooks.execute("SELECT status FROM deliveries ORDER BY id")]


def age(webhooks, *deliveries):
    """What is pending was finished so long ago, the oldest block's first."""
    for status, finished_ago in deliveries:
        webhooks.execute(
            "UPDATE deliveries SET status = %s, finished_at = %s WHERE id ="
            " (SELECT min(id) FROM deliveries WHERE status = 'pending')",
            status,
            now() - finished_ago,
        )


def test_delivered_ones_are_kept_a_day_and_others_a_week(webhooks):
    days = {"delivered": 1, "failed": 7, "cancelled": 7}
    deleted, kept = (
        [(status, timedelta(days=count, minutes=more)) for status, count in days.items()]
        for more in (1, -10)
    )
    webhooks.register(OWNER, "https://127.0.0.1:9/")
    for _ in range(6):
        webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
    age(webhooks, *deleted, *kept)
    with webhooks.delivering(finality=0):
        serving.wait_until(lambda: len(statuses(webhooks)) < 6)
    assert statuses(webhooks) == [*days]


@pytest.mark.parametrize(("finality", "count"), [(2, 2), (1, 1), (0, 0)])
def test_those_of_blocks_that_a_fork_may_take_back_are_kept(webhooks, finality, count):
    """Their removal would have to be reported."""
    webhooks.register(OWNER, "https://127.0.0.1:9/")
    for _ in range(4):
        webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
    age(webhooks, *[("delivered", timedelta(days=30))] * 4)
    with webhooks.delivering(finality=finality):
        serving.wait_until(lambda: len(statuses(webhooks)) < 4)
    assert len(statuses(webhooks)) == count


def test_deletions_go_on_while_there_are_more_than_a_batch(webhooks):
    hook = webhooks.register(OWNER, "https://127.0.0.1:9/")
    webhooks.chain.append()
    fill(webhooks, hook, 2 * DELETE_BATCH + 1)
    webhooks.execute(
        "UPDATE deliveries SET status = 'delivered', finished_at = now() - interval '30 days'"
    )
    with webhooks.delivering(finality=0):
        serving.wait_until(lambda: not statuses(webhooks))


def test_deliveries_of_deleted_webhooks_are_removed(webhooks, receiver):
    """Events may be written while a webhook is being deleted."""
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
    webhooks.execute("DELETE FROM webhooks WHERE id = %s", hook.id)
    assert statuses(webhooks) == ["pending"]
    with webhooks.delivering():
        serving.wait_until(lambda: not statuses(webhooks))
    assert receiver.received == []


def test_the_lease_of_a_dead_process_is_ended_before_it_expires(webhooks, receiver):
    webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([made_blocks.Move(OWNER, OTHER)])
    dead = webhooks.queues(lease_s=86_400.0)
    assert dead.claim(healthy_only=False, now=now())
    with webhooks.delivering():
        receiver.wait_for(1)
