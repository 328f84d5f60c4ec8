"""Rewards of proof of work at the borders of forks, as chains' specifications state them."""

from collections import namedtuple

import pytest

from scan.extensions.block_records.uncles.block_completion import mining_credits

pytestmark = pytest.mark.check

Mined = namedtuple("Mined", "number miner", defaults=(b"m" * 20,))


@pytest.mark.parametrize(
    ("chain_id", "number", "coins"),
    [
        (1, 1, 5),
        (1, 4_369_999, 5),
        (1, 4_370_000, 3),
        (1, 7_279_999, 3),
        (1, 7_280_000, 2),
        (61, 5_000_000, 5),
        (61, 5_000_001, 4),
        (61, 10_000_001, 3.2),
        (61, 20_000_001, 2.048),
    ],
)
def test_a_block_earns_what_its_fork_says(chain_id, number, coins):
    [credit] = mining_credits(chain_id, Mined(number), 0, [])
    assert credit[2:] == (b"m" * 20, int(coins * 1000) * 10**15)


@pytest.mark.parametrize(("chain_id", "number"), [(1, 0), (56, 7), (1337, 7)])
def test_the_genesis_block_and_those_of_other_chains_earn_nothing(chain_id, number):
    assert [*mining_credits(chain_id, Mined(number), 0, [])] == []


def test_uncles_earn_by_distance_and_their_nephew_for_each():
    coin = 10**18
    uncle = namedtuple("Uncle", "uncle_number miner", defaults=(b"u" * 20,))
    uncles = [uncle(4_369_999), uncle(4_369_994)]
    credits = mining_credits(1, Mined(4_370_000), 2, uncles)
    # The number of the block that includes them decides which reward they have a part of.
    expected = [3 * coin + 2 * 3 * coin // 32, 3 * coin * 7 // 8, 3 * coin * 2 // 8]
    assert [amount for *_, amount in credits] == expected
    later = mining_credits(61, Mined(5_000_001), 1, [uncle(4_999_999)])
    assert [amount for *_, amount in later] == [4 * coin + coin // 8, coin // 8]
