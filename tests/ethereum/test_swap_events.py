"""Swaps by the forms of their events."""

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.ethereum.blocks import EventLog
from scan.ethereum.events import Trade, swap_event, trade

pytestmark = pytest.mark.check

POOL, POOL_ID, TRADER = b"\x11" * 20, b"\x22" * 32, b"\x33" * 32
COIN, OTHER = b"\x01" * 20, b"\x02" * 20

# The event's signature, the values of its data, and what the pool gained of both of its tokens.
SWAPS = {
    "v2": (
        "Swap(address,uint256,uint256,uint256,uint256,address)",
        [("uint256", 100), ("uint256", 0), ("uint256", 3), ("uint256", 90)],
        (97, -90),
    ),
    "velodrome": (
        "Swap(address,address,uint256,uint256,uint256,uint256)",
        [("uint256", 0), ("uint256", 50), ("uint256", 40), ("uint256", 1)],
        (-40, 49),
    ),
    "v3": (
        "Swap(address,address,int256,int256,uint160,uint128,int24)",
        [("int256", -7), ("int256", 8), ("uint160", 1), ("uint128", 2), ("int24", -3)],
        (-7, 8),
    ),
    "PancakeSwap's v3": (
        "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
        [
            ("int256", 7),
            ("int256", -8),
            ("uint160", 1),
            ("uint128", 2),
            ("int24", -3),
            ("uint128", 4),
            ("uint128", 5),
        ],
        (7, -8),
    ),
    "v4": (
        "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        [
            ("int128", -100),
            ("int128", 90),
            ("uint160", 1),
            ("uint128", 2),
            ("int24", -3),
            ("uint24", 500),
        ],
        (100, -90),
    ),
}


def log_of(signature, data, topics=(POOL_ID, TRADER)):
    return EventLog(4, 5, POOL, (keccak(text=signature), *topics), data)


def data_of(values):
    types, numbers = zip(*values, strict=True)
    return encode(types, numbers)


@pytest.mark.parametrize("name", SWAPS)
def test_a_swap_says_what_the_pool_gained(name):
    signature, values, gained = SWAPS[name]
    swap = swap_event(log_of(signature, data_of(values)))
    assert (swap.amount0, swap.amount1) == gained
    assert (swap.transaction_index, swap.log_index) == (4, 5)
    family, pool = name.split()[-1], POOL + (POOL_ID if name == "v4" else b"")
    assert (swap.family, swap.pool) == (family, pool)


@pytest.mark.parametrize("name", SWAPS)
def test_a_log_of_another_length_or_number_of_topics_is_no_swap(name):
    signature, values, _ = SWAPS[name]
    data = data_of(values)
    logs = [log_of(signature, other) for other in (b"", data[:-32], data[:-1], data + bytes(32))]
    logs += [
        log_of(signature, data, topics) for topics in ((), (POOL_ID,), (POOL_ID, *2 * [TRADER]))
    ]
    logs.append(log_of("Swapped" + signature, data))
    assert {swap_event(log) for log in logs} == {None}


@pytest.mark.parametrize("name", SWAPS)
def test_a_swap_of_nothing_is_none(name):
    signature, values, _ = SWAPS[name]
    nothing = data_of([(type_, 0) for type_, _ in values])
    assert swap_event(log_of(signature, nothing)) is None


@pytest.mark.parametrize(
    ("gained", "expected"),
    [
        ((97, -90), Trade(COIN, OTHER, 97, 90)),
        ((-40, 49), Trade(OTHER, COIN, 49, 40)),
        ((0, 5), Trade(OTHER, COIN, 5, 0)),
        ((0, -5), Trade(COIN, OTHER, 0, 5)),
        ((5, 6), Trade(COIN, OTHER, 5, 0)),
        ((-5, -6), Trade(OTHER, COIN, 0, 5)),
    ],
)
def test_what_went_in_is_what_the_pool_gained(gained, expected):
    swap = swap_event(log_of(SWAPS["v3"][0], encode(["int256"] * 5, [*gained, 1, 1, 1])))
    assert trade(swap, COIN, OTHER) == expected
