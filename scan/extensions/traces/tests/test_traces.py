"""Geth's frames and flat traces decoded: both give the same; those of another shape, or of another
transaction than the block's, are refused."""

import copy

import msgspec
import orjson
import pytest

from scan.ethereum.block_hashing import has_its_hash
from scan.ethereum.block_validation import check_body
from scan.ethereum.blocks import BlockJson, MalformedBlock, ReceiptsJson, Withdrawal, read_json
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.traces import trace_checks, transaction_traces
from scan.extensions.traces.step_traces import own_failure
from scan.extensions.traces.tests.frames import (
    BLOCK_HASH,
    LIBRARY,
    MADE,
    NESTED,
    PAID,
    PURSE,
    SENDER,
    a_block,
    a_transaction,
    both,
    flat_of,
    frame,
    moved,
    outer,
)
from scan.extensions.traces.traces import (
    BlockTraces,
    nested,
    read_call_trace,
    read_call_traces,
    read_flat_traces,
)
from scan.hex import data, to_hex
from tests.support.node_objects import decode_block
from tests.support.value_names import shown

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
    assert [to_hex(address) for address in traces.created] == [MADE, NESTED]
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


NOBODY = {"from": "0x" + "00" * 20, "to": None}
DESTRUCTIONS = [{"from": SENDER, "to": PURSE, "value": "0x64"}, {"to": None}, {"from": PAID}]


@pytest.mark.parametrize("changes", DESTRUCTIONS)
def test_a_destruction_in_ones_own_favour_as_anvil_reports_it(changes):
    """The transfer before it again, or nobody: EIP-6780 leaves the coins where they are."""
    assert moved(both(outer(frame("SELFDESTRUCT", PURSE, PURSE, 5) | changes))) == []


PAYMENT = InternalTransfer(0, 1, TransferType.CALL, data(PURSE), data(PAID), 5)
END = PAYMENT._replace(transfer_index=3, type=TransferType.SELFDESTRUCT)
REWARD = [Withdrawal(0, 0, data(PURSE), 7)]


@pytest.mark.parametrize(
    ("gained", "withdrawals", "expected"),
    [(90, None, set()), (95, None, {END}), (97, REWARD, set()), (102, REWARD, {END})],
)
def test_what_is_repeated_moved_nothing_if_its_sender_has_more(gained, withdrawals, expected):
    """By what the contract, which the transaction pays 100 wei, gained in the block."""
    to_itself = InternalTransfer(0, 2, TransferType.CALL, data(PURSE), data(PURSE), 1)
    block = a_block()._replace(withdrawals=withdrawals)
    for transfers in ([PAYMENT, END], [PAYMENT, to_itself, END]):
        assert trace_checks.doubtful_destructions(block, transfers) == [END]
        of_sender = {END.from_address: gained}
        false = trace_checks.false_destructions(block, transfers, [END], of_sender)
        assert false == expected
        assert trace_checks.false_destructions(block, transfers, [END], {}) == {END}
    assert trace_checks.doubtful_destructions(block, [PAYMENT, END._replace(value=4)]) == []


@pytest.mark.parametrize("parties", [{"from": SENDER, "to": PURSE, "value": "0x64"}, NOBODY])
def test_the_trace_of_a_transaction_names_who_ended(parties):
    trace = transaction_traces.read_call_trace(
        outer(frame("SELFDESTRUCT", PURSE, PURSE, 0) | parties)
    )
    end = trace.frames[-1]
    assert (to_hex(end.from_address), to_hex(end.to_address), end.value) == (PURSE, PURSE, 0)


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
    positions = [(t.transaction_index, t.transfer_index) for t in traces.transfers]
    assert positions == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_a_blocks_reward_is_no_transaction():
    reward = {"blockHash": to_hex(BLOCK_HASH), "type": "reward", "transactionPosition": None}
    assert read_flat_traces(a_block(), [*flat_of(outer()), reward]) == BlockTraces([], [])


def test_deep_calls_are_no_recursion():
    inner = frame("CALL", PURSE, PURSE, 1)
    for _ in range(20_000):
        inner = frame("CALL", PURSE, PURSE, 1, calls=[inner])
    block = a_block(outermost=inner)
    assert len(read_call_traces(block, [{"result": inner}]).transfers) == 20_000


def test_a_party_that_nests_deeply_is_malformed():
    def deep():
        nested = []
        for _ in range(2000):
            nested = [nested]
        return nested

    destroyed = {"type": "SELFDESTRUCT", "from": deep(), "to": PAID}
    call = {"type": "DELEGATECALL", "from": deep(), "to": LIBRARY, "calls": [destroyed]}
    with pytest.raises(MalformedBlock):
        read_call_traces(a_block(), [{"result": outer(call)}])


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
    assert [to_hex(address) for address in traces.created] == [MADE, PAID]


def test_the_transaction_itself_is_no_internal_transfer():
    assert moved(both(outer())) == []
    created = both(frame("CREATE", SENDER, MADE, 5, calls=[frame("CALL", MADE, PAID, 1)]))
    assert moved(created) == [("call", MADE, PAID, 1)]
    assert [to_hex(address) for address in created.created] == [MADE]


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


OTHER_SHAPES = [
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
    [{"result": outer(None)}],
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
]


@pytest.mark.parametrize("entries", OTHER_SHAPES, ids=str)
def test_frames_of_another_shape_are_refused(entries):
    with pytest.raises(MalformedBlock, match=r"^block 7: "):
        read_call_traces(a_block(), entries)


def changed(index, **changes):
    traces = flat_of(outer(CALL))
    traces[index] = {**traces[index], **changes}
    return traces


OTHER_FLAT_SHAPES = [
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
]


@pytest.mark.parametrize("traces", OTHER_FLAT_SHAPES, ids=str)
def test_flat_traces_of_another_shape_are_refused(traces):
    with pytest.raises(MalformedBlock, match=r"^block 7: "):
        read_flat_traces(a_block(), traces)


def test_decoding_changes_nothing_of_what_was_read():
    outermost = outer(CALL, frame("CREATE", PURSE, MADE, 1, calls=[CALL]))
    before = copy.deepcopy(outermost)
    both(outermost)
    assert outermost == before


OUTERMOST_LIES = [
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
]


@pytest.mark.parametrize(("name", "lie"), OUTERMOST_LIES)
def test_an_outermost_call_that_is_not_the_transactions_is_refused(name, lie):
    own_call = {"input": "0xa9059cbb" + 64 * "0", "gas": "0x186a0", "gasUsed": "0xc350"}
    own = outer(CALL, **own_call)
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


FALSE_CREATIONS = [{"to": PAID}, {"type": "CALL"}, {"value": "0x6"}, {"from": PAID}]


@pytest.mark.parametrize("lie", FALSE_CREATIONS, ids=shown)
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


def test_ordinary_blocks_have_their_hashes_and_traces():
    """Those that benchmarks read."""
    from bench.chain import Chain

    chain = Chain.of(9)
    for number in (7, 8):
        texts = chain.block(number), chain.receipts(number)
        block = decode_block(*map(orjson.loads, texts), number)
        assert len(block.transactions) == 150
        header = read_json(msgspec.Raw(texts[0]), BlockJson, number)
        assert has_its_hash(header)
        receipts = read_json(msgspec.Raw(texts[1]), ReceiptsJson, number)
        assert not check_body(header, receipts).contradiction
        traces = read_call_traces(block, orjson.loads(chain.traces(number)))
        assert traces.created and len(traces.transfers) > 10


@pytest.mark.parametrize("error", [{"error": "Reverted"}, {}])
def test_a_reverted_creation_of_erigon_has_its_reason(error):
    """Its result has what was returned, under a call's names, and no address."""
    failed = frame("CREATE", PURSE, None, error="Reverted")
    traces = flat_of(outer(frame("CALL", PURSE, PAID, 1, calls=[failed])))
    del traces[2]["error"]
    traces[2] |= {**error, "result": {"gasUsed": "0x5", "output": "0x08c379a0"}}
    hash_ = data(traces[0]["transactionHash"])
    [call] = nested(traces, data(traces[0]["blockHash"]), hash_)["calls"]
    [creation] = call["calls"]
    told = {name: creation[name] for name in ("error", "output", "to")}
    assert told == {"error": "Reverted", "output": "0x08c379a0", "to": None}
    assert own_failure(creation).data == bytes.fromhex("08c379a0")
    assert read_flat_traces(a_block(), traces).created == []
