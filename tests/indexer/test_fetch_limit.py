"""Requests for blocks follow what the node takes: as many at a time, as many blocks in each."""

import threading

import pytest

from scan.ethereum import client, node_errors
from scan.indexer import prefetch

pytestmark = pytest.mark.check


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.setattr(node_errors, "REFUSAL_PAUSE_S", 0.0)
    return prefetch.FetchLimit(threading.Event())


def refuse(retry_after_s=None):
    raise client.RateLimited("no", retry_after_s=retry_after_s)


def test_requests_that_are_waited_for_become_more(limit):
    for _ in range(100):
        limit.record_answer(5, 750, was_waited_for=False)
    assert limit.concurrency == prefetch.FIRST_CONCURRENCY
    for _ in range(100):
        limit.record_answer(5, 750, was_waited_for=True)
    assert limit.concurrency == prefetch.MAX_CONCURRENCY


def test_a_refusal_halves_them_and_is_tried_again_a_few_times(limit):
    with pytest.raises(client.RateLimited):
        limit.run(refuse)
    assert limit.concurrency == 1
    assert limit.run(lambda: 7) == 7


def test_a_long_pause_is_left_to_the_caller(limit):
    with pytest.raises(client.RateLimited):
        limit.run(lambda: refuse(300))


@pytest.mark.parametrize(
    ("transactions", "blocks"), [(0, 20), (10, 20), (150, 5), (400, 2), (5000, 1)]
)
def test_large_blocks_come_fewer_at_a_time(limit, transactions, blocks):
    for _ in range(40):
        limit.record_answer(1, transactions, was_waited_for=False)
    assert limit.blocks == blocks
