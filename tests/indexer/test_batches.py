"""How blocks that were fetched are put into batches, how many are fetched ahead, and how many
requests for them are in flight, each of how many blocks: what the node takes."""

import threading
from collections import deque
from concurrent.futures import Future

import pytest

from scan.ethereum import client
from scan.indexer import block_rows, block_source, prefetch, prefetch_process

pytestmark = pytest.mark.check


def block(number, transactions=100, logs=""):
    return block_rows.BlockRows(
        block_rows.BlockContracts(number, b"", b"", (b"a",) * 10, frozenset(), frozenset(), [], []),
        columns={},
        transactions=[""] * transactions,
        internal_transfers=[],
        unnumbered={},
        logs=[logs],
        first_topics=(),
        watched_logs=[],
    )


def sizes(blocks, **limits):
    bounds = prefetch.CATCH_UP._replace(**limits)
    return [len(batch) for batch, _ in prefetch.batches(([item] for item in blocks), bounds)]


@pytest.mark.parametrize(
    ("limit", "most", "blocks"),
    [("blocks", 3, 3), ("transactions", 400, 4), ("events", 20, 2), ("long_characters", 45, 5)],
)
def test_a_batch_ends_at_each_of_its_limits(limit, most, blocks):
    chain = [block(number, logs="x" * 9) for number in range(2 * blocks + 1)]
    full = prefetch.CATCH_UP.batch._replace(**{limit: most})
    assert sizes(chain, batch=full) == [blocks, blocks, 1]


def test_blocks_of_a_slow_node_are_not_kept_back():
    chain = [block(number) for number in range(4)]
    assert sizes(chain) == [4]
    assert sizes(chain, batch_s=0.0) == [1, 1, 1, 1]


def test_logs_as_long_as_contracts_make_them_are_not_fetched_far_ahead():
    def fetched(logs):
        future = Future()
        future.set_result(block_source.FetchedRows([block(1, logs=logs)], 0.0, 0.0))
        return future, 1

    assert not prefetch.are_enough(deque())
    assert not prefetch.are_enough(deque([fetched("")] * (prefetch.FETCHES_AHEAD - 1)))
    assert prefetch.are_enough(deque([fetched("")] * prefetch.FETCHES_AHEAD))
    too_large = "x" * (prefetch.CHARACTERS_AHEAD // 2)
    assert not prefetch.are_enough(deque([fetched(too_large)]))
    assert prefetch.are_enough(deque([fetched(too_large)] * 2))
    failed = Future()
    failed.set_exception(OSError())
    assert not prefetch.are_enough(deque([(failed, 1), (Future(), 2), fetched(too_large)]))


@pytest.fixture
def limit(short_pauses):
    return prefetch.FetchLimit(threading.Event())


def refuse(retry_after_s=None):
    raise client.RateLimited("no", retry_after_s=retry_after_s)


def test_requests_that_are_waited_for_become_more(limit):
    for _ in range(100):
        limit.record_answer(5, 750, was_waited_for=False)
    assert limit.concurrency == prefetch.FIRST_CONCURRENCY
    for _ in range(100):
        limit.record_answer(5, 750, was_waited_for=True)
    assert limit.concurrency == prefetch_process.MAX_CONCURRENCY


def test_a_refusal_halves_them_and_is_tried_again_a_few_times(limit):
    with pytest.raises(client.RateLimited):
        limit.run(refuse)
    assert limit.concurrency == 1
    assert limit.run(lambda: 7) == 7


def test_a_long_pause_is_left_to_the_caller(limit):
    with pytest.raises(client.RateLimited):
        limit.run(lambda: refuse(300))
