"""How long contracts took to be read is remembered of a bounded number, and compared with what a
request takes."""

import pytest

from scan.indexer.stale_state import FIRST_TOGETHER, MAX_SLOW, ReadingTimes

pytestmark = pytest.mark.check
SLOW_S, CALLS = 10.0, 4


def test_of_slow_contracts_those_read_longest_ago_are_forgotten():
    times = ReadingTimes()
    contracts = [number.to_bytes(20, "big") for number in range(MAX_SLOW + 2)]
    times.record(contracts[:1], CALLS, SLOW_S / 1000)  # what a request takes
    for contract in contracts[:MAX_SLOW]:
        times.record([contract], CALLS, SLOW_S)
    times.record(contracts[:1], CALLS, SLOW_S)
    assert len(times.slow(alone=True)) == MAX_SLOW
    for contract in contracts[MAX_SLOW:]:
        times.record([contract], CALLS, SLOW_S)
    assert times.slow(alone=True) == [*contracts[3:MAX_SLOW], contracts[0], *contracts[MAX_SLOW:]]
    assert times.slow(alone=False) == []
    assert times.together(contracts[1]) == FIRST_TOGETHER


def test_contracts_of_a_far_node_are_not_slow():
    times, contracts = ReadingTimes(), [bytes([number]) * 20 for number in range(3)]
    for contract in contracts:
        times.record([contract], CALLS, SLOW_S / 50)
    assert times.slow(alone=True) == times.slow(alone=False) == []
    times.record(contracts[:1], CALLS, SLOW_S)
    assert times.slow(alone=True) == contracts[:1]
