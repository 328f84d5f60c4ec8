"""Geth's frames and flat traces decoded: both give the same; those of another shape, or of another
transaction than the block's, are refused."""

import pytest

from scan.ethereum.blocks import DecodedBlock, DecodedTransaction, MalformedBlock, Withdrawal
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.traces import trace_checks, transaction_traces
from scan.extensions.traces.step_traces import own_failure
from scan.extensions.traces.traces import (
    BlockTraces,
    nested,
    read_call_trace,
    read_call_traces,
    read_flat_trace,
    read_flat_traces,
)
from scan.hex import data, quantity, to_hex
from tests.support.value_names import shown

pytestmark = pytest.mark.check

BLOCK_HASH = bytes.fromhex("bb" * 32)


def at(number):
    return f"0x{number:040x}"


SENDER, PURSE, LIBRARY, MADE, PAID = map(at, range(1, 6))


def a_transaction(index, outermost, *, status=True):
    """The one whose own call is `outermost`."""
    to = data(outermost["to"])
    parties = (None, to) if outermost["type"] == "CREATE" else (to, None)
    amounts = quantity(outermost["value"]), 1, 50_000
    sender = data(outermost["from"])
    return DecodedTransaction(index, bytes([index]) * 32, sender, *parties, *amounts, status, 0)


def a_block(*statuses, outermost=None):
    own = outermost or outer()
    transactions = [a_transaction(n, own, status=s) for n, s in enumerate(statuses or (True,))]
    return DecodedBlock(7, BLOCK_HASH, bytes(32), 0, bytes(20), 0, 0, transactions, [])


def frame(kind, sender, to, value=0, **more):
    return {"type": kind, "from": sender, "to": to, "value": hex(value), **more}


def flat_of(outermost, index=0):
    """The same calls as trace_block has them."""
    traces = []

    def add(call, path):
        inner = call.get("calls", [])
        kind, value = call["type"], call["value"]
        trace = {
            "blockHash": to_hex(BLOCK_HASH),
            "transactionHash": to_hex(bytes([index]) * 32),
            "transactionPosition": index,
            "traceAddress": path,
            "subtraces": len(inner),
        }
        if "error" in call:
            trace["error"] = call["error"]
        if kind.startswith("CREATE"):
            action = {"from": call["from"], "value": value, "creationMethod": kind.lower()}
            result = None if "error" in call else {"address": call["to"], "code": "0x"}
            traces.append({**trace, "type": "create", "action": action, "result": result})
        elif kind == "SELFDESTRUCT":
            action = {"address": call["from"], "refundAddress": call["to"], "balance": value}
            traces.append({**trace, "type": "suicide", "action": action, "result": None})
        else:
            action = {"from": call["from"], "to": call["to"], "value": value}
            action["callType"] = kind.lower()
            traces.append({**trace, "type": "call", "action": action, "result": {"output": "0x"}})
        for position, child in enumerate(inner):
            add(child, [*path, position])

    add(outermost, [])
    return traces


def both(outermost, *, status=True):
    """What either form gives, which has to be the same."""
    block = a_block(status, outermost=outermost)
    hash_ = to_hex(block.transactions[0].hash)
    geth = read_call_traces(block, [{"txHash": hash_, "result": outermost}])
    flat = flat_of(outermost)
    assert geth == read_flat_traces(block, flat)
    assert geth == read_call_trace(block, block.transactions[0], outermost)
    assert geth == read_flat_trace(block, block.transactions[0], flat)
    assert geth == read_flat_traces(block, flat[::-1])  # in whatever order
    return geth


def outer(*calls, **more):
    return frame("CALL", SENDER, PURSE, 100, calls=list(calls), **more)


def call(to, value=0, sender=PURSE, **more):
    return frame("CALL", sender, to, value, **more)


# What the scenario's node does not report so; its traces have all else in both forms.
@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        # In one's own favour; then the transfer before it again, or nobody: EIP-6780 leaves the
        # coins where they are.
        (frame("SELFDESTRUCT", PURSE, PURSE, 5), [("selfdestruct", PURSE, PURSE, 5)]),
        (frame("SELFDESTRUCT", SENDER, PURSE, 100), []),
        (frame("SELFDESTRUCT", PURSE, None, 5), []),
        (call(PAID, 2**256 - 1), [("call", PURSE, PAID, 2**256 - 1)]),
        (frame("CALLCODE", PURSE, LIBRARY, 7), []),
        (call(PAID, 4, calls=[frame("CREATE", PAID, MADE, 3)], error="execution reverted"), []),
    ],
    ids=["own favour", "again", "nobody", "uint256", "code of others with value", "failed"],
)
def test_what_moves_coin(inner, expected):
    traces = both(outer(inner))
    indexes = [transfer.transfer_index for transfer in traces.transfers]
    assert indexes == sorted({*indexes}) and 0 not in indexes
    moved = [
        (t.type.name.lower(), to_hex(t.from_address), to_hex(t.to_address), t.value)
        for t in traces.transfers
    ]
    assert (moved, traces.created) == (expected, [])


@pytest.mark.parametrize("error", [{"error": "execution reverted"}, {}])
def test_failed_transactions_move_nothing(error):
    """Some nodes report the failure in the frame, the receipt always does."""
    traces = both(outer(call(PAID, 1), **error), status=False)
    assert traces == BlockTraces([], [])


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


@pytest.mark.parametrize(
    "parties",
    [{"from": SENDER, "to": PURSE, "value": "0x64"}, {"from": "0x" + "00" * 20, "to": None}],
)
def test_the_trace_of_a_transaction_names_who_ended(parties):
    trace = transaction_traces.read_call_trace(
        outer(frame("SELFDESTRUCT", PURSE, PURSE, 0) | parties)
    )
    end = trace.frames[-1]
    assert (to_hex(end.from_address), to_hex(end.to_address), end.value) == (PURSE, PURSE, 0)


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
    lending = {"type": "DELEGATECALL", "from": deep(), "to": LIBRARY, "calls": [destroyed]}
    with pytest.raises(MalformedBlock):
        read_call_traces(a_block(), [{"result": outer(lending)}])


def test_a_failure_that_the_receipt_does_not_know_is_refused():
    """Otherwise its movements would be missing of a block that counts as traced."""
    outermost = outer(call(PAID, 1), error="execution reverted")
    for read, traces in (
        (read_call_traces, [{"result": outermost}]),
        (read_flat_traces, flat_of(outermost)),
    ):
        with pytest.raises(MalformedBlock, match="has another status"):
            read(a_block(), traces)
    before_byzantium = a_block()._replace(has_statuses=False)
    assert read_call_traces(before_byzantium, [{"result": outermost}]).failed == {0}


OTHER = to_hex(bytes.fromhex("cc" * 32))
CALL = call(PAID, 1)


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [{"result": outer()}, {"result": outer()}],
        [{"txHash": OTHER, "result": outer()}],
        [{}],
        [{"result": None}],
        [None],
        [{"result": outer({})}],
        [{"result": outer(CALL | {"to": None})}],
        [{"result": outer(CALL | {"to": "0x12"})}],
        [{"result": outer(CALL | {"value": 1})}],
        [{"result": outer(CALL | {"value": "0x" + 65 * "f"})}],
        [{"result": outer() | {"calls": 5}}],
    ],
    ids=str,
)
def test_frames_of_another_shape_are_refused(entries):
    with pytest.raises(MalformedBlock, match=r"^block 7: "):
        read_call_traces(a_block(), entries)


def changed(index, **changes):
    traces = flat_of(outer(CALL))
    traces[index] = {**traces[index], **changes}
    return traces


@pytest.mark.parametrize(
    "traces",
    [
        [],
        flat_of(outer(CALL))[1:],  # without the outermost
        flat_of(outer(CALL), 1),
        [*flat_of(outer(CALL)), flat_of(outer(CALL))[1]],
        changed(1, blockHash=OTHER),
        changed(1, transactionHash=OTHER),
        changed(1, traceAddress=[0, 5]),
        changed(1, traceAddress=[[]]),
        changed(1, transactionPosition="0x0"),
        changed(1, action={}),
        changed(1, action={"callType": "call", "from": PURSE, "to": None, "value": "0x1"}),
        changed(1, type="create", result={"address": "0x1"}),
        [None],
    ],
    ids=str,
)
def test_flat_traces_of_another_shape_are_refused(traces):
    with pytest.raises(MalformedBlock, match=r"^block 7: "):
        read_flat_traces(a_block(), traces)


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("type", "DELEGATECALL"),
        ("from", PAID),
        ("to", PAID),
        ("value", "0x63"),
        ("input", "0xa9059cbc00"),
        ("gasUsed", "0xc351"),
        ("status", "out of gas"),
    ],
)
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


@pytest.mark.parametrize("error", [{"error": "Reverted"}, {}])
def test_a_reverted_creation_of_erigon_has_its_reason(error):
    """Its result has what was returned, under a call's names, and no address."""
    reverted = frame("CREATE", PURSE, None, error="Reverted")
    traces = flat_of(outer(call(PAID, 1, calls=[reverted])))
    del traces[2]["error"]
    traces[2] |= {**error, "result": {"gasUsed": "0x5", "output": "0x08c379a0"}}
    hash_ = data(traces[0]["transactionHash"])
    [outside] = nested(traces, data(traces[0]["blockHash"]), hash_)["calls"]
    [creation] = outside["calls"]
    told = {name: creation[name] for name in ("error", "output", "to")}
    assert told == {"error": "Reverted", "output": "0x08c379a0", "to": None}
    assert own_failure(creation).data == bytes.fromhex("08c379a0")
    assert read_flat_traces(a_block(), traces).created == []
