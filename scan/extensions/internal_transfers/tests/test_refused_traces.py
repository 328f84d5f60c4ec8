"""Traces of another shape, or of another transaction, than the block's are refused."""

import copy

import pytest

from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.internal_transfers import trace_checks
from scan.extensions.internal_transfers.tests.frames import (
    MADE,
    PAID,
    PURSE,
    SENDER,
    a_block,
    a_transaction,
    both,
    flat_of,
    frame,
    outer,
)
from scan.extensions.internal_transfers.traces import (
    read_call_trace,
    read_call_traces,
    read_flat_traces,
)
from scan.hex import data, to_hex
from tests.support.value_names import shown

pytestmark = pytest.mark.check


def test_a_failure_that_the_receipt_does_not_know_is_refused():
    """Otherwise its movements would be missing of a block that counts as traced."""
    failed = outer(frame("CALL", PURSE, PAID, 1), error="execution reverted")
    for read, traces in (
        (read_call_traces, [{"result": failed}]),
        (read_flat_traces, flat_of(failed)),
    ):
        with pytest.raises(MalformedBlock, match="has another status"):
            read(a_block(), traces)
    before_byzantium = a_block()._replace(has_statuses=False)
    assert read_call_traces(before_byzantium, [{"result": failed}]).failed == {0}


OTHER = to_hex(bytes.fromhex("cc" * 32))
CALL = frame("CALL", PURSE, PAID, 1)


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [{"result": outer()}, {"result": outer()}],
        [{"txHash": OTHER, "result": outer()}],
        [{"txHash": 5, "result": outer()}],
        [{}],
        [{"result": None}],
        [None],
        [[]],
        ["0x"],
        [{"result": []}],
        [{"result": {}}],
        [{"result": outer({})}],
        [{"result": outer(None)}],  # type: ignore[arg-type]
        [{"result": outer(CALL | {"to": None})}],
        [{"result": outer(CALL | {"to": "0x12"})}],
        [{"result": outer(CALL | {"from": PURSE.upper()})}],
        [{"result": outer(CALL | {"value": 1})}],
        [{"result": outer(CALL | {"value": "0x" + 65 * "f"})}],
        [{"result": outer(CALL | {"value": "-0x1"})}],
        [{"result": outer(CALL | {"type": []})}],
        [{"result": outer() | {"calls": 5}}],
        [{"result": outer() | {"calls": {"0": CALL}}}],
        [{"result": outer() | {"calls": "CALL"}}],
    ],
    ids=str,
)
def test_frames_of_another_shape_are_refused(entries):
    with pytest.raises(MalformedBlock, match=r"^block 7: "):
        read_call_traces(a_block(), entries)


def changed(place, **changes):
    traces = flat_of(outer(CALL))
    traces[place] = {**traces[place], **changes}
    return traces


@pytest.mark.parametrize(
    "traces",
    [
        [],
        flat_of(outer(CALL))[1:],  # without the outermost
        flat_of(outer(CALL), 1),
        [*flat_of(outer(CALL)), *flat_of(outer(CALL), 1)],
        [*flat_of(outer(CALL)), flat_of(outer(CALL))[1]],
        changed(1, blockHash=OTHER),
        changed(1, blockHash=None),
        changed(1, transactionHash=OTHER),
        changed(1, traceAddress=[0, 5]),
        changed(1, traceAddress=["0"]),
        changed(1, traceAddress=None),
        changed(1, traceAddress=[[]]),
        changed(1, transactionPosition="0x0"),
        changed(1, transactionPosition=[]),
        changed(1, action=None),
        changed(1, action={}),
        changed(1, action={"callType": "call", "from": PURSE, "to": None, "value": "0x1"}),
        changed(1, type="create", result=None),
        changed(1, type="create", result={"address": "0x1"}),
        [None],
        ["0x"],
        [5],
    ],
    ids=str,
)
def test_flat_traces_of_another_shape_are_refused(traces):
    with pytest.raises(MalformedBlock, match=r"^block 7: "):
        read_flat_traces(a_block(), traces)


def test_decoding_changes_nothing_of_what_was_read():
    outermost = outer(CALL, frame("CREATE", PURSE, MADE, 1, calls=[CALL]))
    before = copy.deepcopy(outermost)
    both(outermost)
    assert outermost == before


OWN_CALL = {"input": "0xa9059cbb" + 64 * "0", "gas": "0x186a0", "gasUsed": "0xc350"}


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("type", "CREATE"),
        ("type", "DELEGATECALL"),
        ("from", PAID),
        ("to", PAID),
        ("value", "0x63"),
        ("value", None),
        ("input", "0x"),
        ("input", "0xa9059cbc00"),
        ("gasUsed", "0xc351"),
        ("status", "out of gas"),
    ],
)
def test_an_outermost_call_that_is_not_the_transactions_is_refused(name, lie):
    own = outer(CALL, **OWN_CALL)
    false = {**own, "error" if name == "status" else name: lie}
    sent = a_transaction(0, own)._replace(
        gas_limit=b"\x01\x86\xa0", method=bytes.fromhex("a9059cbb")
    )
    block = a_block()._replace(transactions=[sent])
    assert len(read_call_traces(block, [{"result": own}]).transfers) == 1
    with pytest.raises(trace_checks.ContradictingTraces, match=f"has another {name}"):
        read_call_traces(block, [{"result": false}])
    with pytest.raises(trace_checks.ContradictingTraces, match=f"has another {name}"):
        read_call_trace(block, sent, false)


@pytest.mark.parametrize(
    "lie", [{"to": PAID}, {"type": "CALL"}, {"value": "0x6"}, {"from": PAID}], ids=shown
)
def test_a_creation_that_is_not_the_transactions_is_refused(lie):
    own = frame("CREATE", SENDER, MADE, 5, calls=[frame("CALL", MADE, PAID, 1)])
    block = a_block(outermost=own)
    with pytest.raises(trace_checks.ContradictingTraces):
        read_call_traces(block, [{"result": own | lie}])
    flat = flat_of({**own, **lie})
    with pytest.raises(trace_checks.ContradictingTraces):
        read_flat_traces(block, flat)


def test_gas_is_compared_where_the_node_counts_the_whole_transaction():
    """Others, such as trace_block, leave out what a transaction costs before it runs."""
    own = outer(CALL, gas="0x13000", gasUsed="0x5000")
    assert len(read_call_traces(a_block(), [{"result": own}]).transfers) == 1


def test_nobody_spends_more_than_it_has():
    rich, poor = bytes(19) + b"\x09", data(PURSE)
    coin = 10**18
    block = a_block(outermost=outer())

    def spend(*moves):
        transfers = [InternalTransfer(0, n, TransferType.CALL, *m) for n, m in enumerate(moves)]
        assert {*trace_checks.large_spenders(block, transfers)} == {m[0] for m in moves}
        trace_checks.require_spendable(block, transfers, {rich: 500 * coin, poor: coin})

    spend((rich, poor, 400 * coin), (poor, rich, 401 * coin), (rich, poor, 501 * coin))
    for lie in (
        [(poor, rich, 1_000_000 * coin)],
        [(rich, poor, 400 * coin), (rich, poor, 101 * coin)],
        [(poor, rich, 400 * coin), (rich, poor, 400 * coin)],  # in this order it has nothing yet
    ):
        with pytest.raises(trace_checks.ContradictingTraces, match="proven to be its own"):
            spend(*lie)


def test_balances_are_proven_where_much_is_spent():
    """Of a few accounts, so that a block costs one request at most."""
    coin = 10**18
    block = a_block()
    payer = [bytes(18) + bytes([1, n]) for n in range(12)]
    transfers = [
        InternalTransfer(0, n, TransferType.CALL, payer[n], bytes(20), (95 + n) * coin)
        for n in range(12)
    ]
    assert trace_checks.large_spenders(block, transfers[:5]) == []
    assert trace_checks.large_spenders(block, transfers) == payer[:4:-1]
    assert trace_checks.large_spenders(block, transfers * 2) == payer[:3:-1]
    assert trace_checks.large_spenders(block._replace(coin_logs=True), transfers) == []
