"""Geth's frames and flat traces decoded: both give the same, and neither is believed blindly."""

import pytest

from scan.extensions.internal_transfers.tests.frames import (
    BLOCK_HASH,
    LIBRARY,
    MADE,
    NESTED,
    PAID,
    PURSE,
    SENDER,
    a_block,
    both,
    flat_of,
    frame,
    moved,
    outer,
)
from scan.extensions.internal_transfers.traces import (
    BlockTraces,
    read_call_traces,
    read_flat_traces,
)
from scan.hex import to_hex

pytestmark = pytest.mark.check


def test_every_kind_of_movement_in_the_order_of_the_calls():
    traces = both(
        outer(
            frame("CALL", PURSE, PAID, 1, calls=[frame("CALL", PAID, PURSE, 2)]),
            frame("CREATE", PURSE, MADE, 3, calls=[frame("CREATE2", MADE, NESTED, 4)]),
            frame("CALL", PURSE, MADE, 0, calls=[frame("SELFDESTRUCT", MADE, PAID, 5)]),
            frame("CALL", PURSE, PURSE, 6),
        )
    )
    assert moved(traces) == [
        ("call", PURSE, PAID, 1),
        ("call", PAID, PURSE, 2),
        ("create", PURSE, MADE, 3),
        ("create2", MADE, NESTED, 4),
        ("selfdestruct", MADE, PAID, 5),
        ("call", PURSE, PURSE, 6),
    ]
    assert [to_hex(each) for each in traces.created] == [MADE, NESTED]
    assert [t.transfer_index for t in traces.transfers] == [1, 2, 3, 4, 6, 7]


def test_borrowed_code_pays_in_the_borrowers_name():
    inner = [frame("CALL", PURSE, PAID, 8), frame("SELFDESTRUCT", PURSE, PAID, 9)]
    traces = both(outer(frame("DELEGATECALL", PURSE, LIBRARY, 100, calls=inner)))
    assert moved(traces) == [("call", PURSE, PAID, 8), ("selfdestruct", PURSE, PAID, 9)]


@pytest.mark.parametrize("error", [{"error": "execution reverted"}, {}])
def test_failed_transactions_move_nothing(error):
    """Some nodes report the failure in the frame, the receipt always does."""
    traces = both(outer(frame("CALL", PURSE, PAID, 1), **error), status=False)
    assert traces == BlockTraces([], [])


@pytest.mark.parametrize(
    "changes", [{"from": SENDER, "to": PURSE, "value": "0x64"}, {"to": None}, {"from": PAID}]
)
def test_a_destruction_in_ones_own_favour_as_anvil_reports_it(changes):
    """The transfer before it again, or nobody: EIP-6780 leaves the coins where they are."""
    assert moved(both(outer(frame("SELFDESTRUCT", PURSE, PURSE, 5) | changes))) == []


def test_a_destruction_in_ones_own_favour_is_one_to_oneself():
    traces = both(outer(frame("SELFDESTRUCT", PURSE, PURSE, 5)))
    assert moved(traces) == [("selfdestruct", PURSE, PURSE, 5)]


def test_values_may_be_missing_and_as_large_as_a_uint256():
    most = 2**256 - 1
    inner = frame("CALL", PURSE, PAID, most)
    silent = {key: value for key, value in inner.items() if key != "value"}
    assert moved(both(outer(inner))) == [("call", PURSE, PAID, most)]
    assert moved(read_call_traces(a_block(), [{"result": outer(silent)}])) == []


def test_indexes_count_calls_that_move_nothing_or_fail():
    inner = [frame("CALL", LIBRARY, PAID, 1), frame("STATICCALL", LIBRARY, PAID)]
    failed = frame("CALL", PURSE, LIBRARY, 0, calls=inner, error="execution reverted")
    traces = both(outer(failed, frame("CALL", PURSE, PAID, 2)))
    assert [(t.transfer_index, t.value) for t in traces.transfers] == [(4, 2)]


def test_indexes_begin_anew_in_each_transaction():
    block = a_block(True, True)
    calls = outer(frame("CALL", PURSE, PAID, 1), frame("CALL", PURSE, PAID, 2))
    entries = [{"result": calls}, {"result": calls}]  # without txHash, as older nodes
    traces = read_call_traces(block, entries)
    assert traces == read_flat_traces(block, flat_of(calls, 0) + flat_of(calls, 1))
    places = [(t.transaction_index, t.transfer_index) for t in traces.transfers]
    assert places == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_a_blocks_reward_is_no_transaction():
    reward = {"blockHash": to_hex(BLOCK_HASH), "type": "reward", "transactionPosition": None}
    assert read_flat_traces(a_block(), [*flat_of(outer()), reward]) == BlockTraces([], [])


def test_deep_calls_are_no_recursion():
    inner = frame("CALL", PURSE, PURSE, 1)
    for _ in range(20_000):
        inner = frame("CALL", PURSE, PURSE, 1, calls=[inner])
    block = a_block(outermost=inner)
    assert len(read_call_traces(block, [{"result": inner}]).transfers) == 20_000


def test_what_moves_nothing():
    traces = both(
        outer(
            frame("CALL", PURSE, PAID, 0),
            frame("STATICCALL", PURSE, PAID, 0),
            frame("CALLCODE", PURSE, LIBRARY, 7),
            frame("CALL", PURSE, MADE, 0, calls=[frame("SELFDESTRUCT", MADE, PAID, 0)]),
        )
    )
    assert moved(traces) == [] and traces.created == []


def test_a_creation_counts_without_value():
    undone = frame("CALL", PURSE, PAID, 0, error="x", calls=[frame("CREATE", PURSE, PAID, 0)])
    traces = both(
        outer(
            frame("CREATE", PURSE, MADE, 0, calls=[frame("CREATE", MADE, PAID, 0)]),
            undone,
            frame("CALL", PURSE, PAID, 9),
        )
    )
    assert [(to, value) for _, _, to, value in moved(traces)] == [(MADE, 0), (PAID, 0), (PAID, 9)]
    assert [to_hex(each) for each in traces.created] == [MADE, PAID]


def test_the_transaction_itself_is_no_internal_transfer():
    assert moved(both(outer())) == []
    created = both(frame("CREATE", SENDER, MADE, 5, calls=[frame("CALL", MADE, PAID, 1)]))
    assert moved(created) == [("call", MADE, PAID, 1)]
    assert [to_hex(each) for each in created.created] == [MADE]


def test_failed_branches_move_and_create_nothing():
    undone = [frame("CALL", PAID, PURSE, 2), frame("CREATE", PAID, MADE, 3)]
    traces = both(
        outer(
            frame("CALL", PURSE, PAID, 1),
            frame("CALL", PURSE, PAID, 4, calls=undone, error="execution reverted"),
            frame("CALL", PURSE, PAID, 5, error="insufficient balance for transfer"),
            frame("CREATE", PURSE, NESTED, 6, error="out of gas"),
            frame("CALL", PURSE, PAID, 7),
        )
    )
    assert moved(traces) == [("call", PURSE, PAID, 1), ("call", PURSE, PAID, 7)]
    assert traces.created == []
