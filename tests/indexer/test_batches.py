"""How blocks that were fetched are put into batches, and how many are fetched ahead."""

from collections import deque
from concurrent.futures import Future

import pytest

from scan.indexer import block_rows, block_source, prefetch

pytestmark = pytest.mark.check

TOO_LARGE = "x" * (prefetch.CHARACTERS_AHEAD // 2)


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


def sizes(blocks):
    return [len(batch) for batch, _ in prefetch._batches([each] for each in blocks)]


@pytest.mark.parametrize(
    ("limit", "most", "blocks"),
    [
        ("BATCH_BLOCKS", 3, 3),
        ("BATCH_TRANSACTIONS", 400, 4),
        ("BATCH_EVENTS", 20, 2),
        ("BATCH_LONG_CHARACTERS", 45, 5),
    ],
)
def test_a_batch_ends_at_each_of_its_limits(monkeypatch, limit, most, blocks):
    monkeypatch.setattr(prefetch, limit, most)
    chain = [block(number, logs="x" * 9) for number in range(2 * blocks + 1)]
    assert sizes(chain) == [blocks, blocks, 1]


def test_blocks_of_a_slow_node_are_not_kept_back(monkeypatch):
    chain = [block(number) for number in range(4)]
    assert sizes(chain) == [4]
    monkeypatch.setattr(prefetch, "BATCH_S", 0.0)
    assert sizes(chain) == [1, 1, 1, 1]


def fetched(logs):
    future = Future()
    future.set_result(block_source.FetchedRows([block(1, logs=logs)], 0.0, 0.0))
    return future, 1


def test_logs_as_long_as_contracts_make_them_are_not_fetched_far_ahead():
    assert not prefetch._are_enough(deque())
    assert not prefetch._are_enough(deque([fetched("")] * (prefetch.FETCHES_AHEAD - 1)))
    assert prefetch._are_enough(deque([fetched("")] * prefetch.FETCHES_AHEAD))
    assert not prefetch._are_enough(deque([fetched(TOO_LARGE)]))
    assert prefetch._are_enough(deque([fetched(TOO_LARGE)] * 2))
    failed = Future()
    failed.set_exception(OSError())
    assert not prefetch._are_enough(deque([(failed, 1), (Future(), 2), fetched(TOO_LARGE)]))
