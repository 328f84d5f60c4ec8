"""Steps read into the frames that the node's own callTracer gives, for every transaction;
and access lists (EIP-7928) by each client's method."""

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum.block_decoder import decode_block
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import Node
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.traces.step_traces import read_steps
from scan.extensions.traces.trace_checks import METHODS, AccessLists
from scan.extensions.traces.traces import read_call_trace
from scan.hex import BadHex, to_hex
from scan.indexer.hooks import TracedBlock
from tests.support.anvil import Anvil
from tests.support.faulty_node import FaultyNode, Reply
from tests.support.scenario.contracts import creations, failures, purses
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens, wrappers

STEPS = {"disableMemory": True, "disableStorage": True}


@pytest.fixture(scope="module")
def anvil():
    """With every kind of call and creation, and its steps recorded."""
    with Anvil("--steps-tracing") as node:
        stage = Stage(node)
        for act in (honest_tokens, wrappers, creations, failures, purses):
            act(stage)
        yield node


@pytest.mark.thorough
def test_the_steps_show_what_the_tracer_of_calls_shows(anvil):
    blocks = [read_block(anvil, number) for number in range(anvil.head() + 1)]
    read = [read_twice(anvil, b, sent) for b in blocks for sent in b.transactions if sent.status]
    assert [by_steps.created for by_steps, *_ in read] == [traced.created for _, traced, *_ in read]
    complete = [(by_steps, traced) for by_steps, traced, _, is_complete in read if is_complete]
    assert all(by_steps.transfers == traced.transfers for by_steps, traced in complete)
    # What destroys itself moves what it has; a plain transfer has no steps.
    others = [operations for *_, operations, is_complete in read if not is_complete]
    assert all(not operations or "SELFDESTRUCT" in operations for operations in others)
    assert len(complete) > 80
    assert sum(len(by_steps.created) for by_steps, *_ in read) > 15
    assert sum(len(by_steps.transfers) for by_steps, *_ in read) > 20


def read_twice(anvil, block, transaction):
    """What steps show, and what the tracer of calls does; the operations, and whether these are all
    that is to be known."""
    hash_ = to_hex(transaction.hash)
    calls = anvil.call("debug_traceTransaction", hash_, {"tracer": "callTracer"})
    steps = anvil.call("debug_traceTransaction", hash_, STEPS)["structLogs"]
    frame, is_complete = read_steps(transaction, steps)
    actual, expected = (read_call_trace(block, transaction, f) for f in (frame, calls))
    return actual, expected, {step["op"] for step in steps}, is_complete


def read_block(anvil, number):
    calls = [
        ("eth_getBlockByNumber", (hex(number), True)),
        ("eth_getBlockReceipts", (hex(number),)),
    ]
    return decode_block(*anvil.batch(calls), number)


MALFORMED = [
    [{"depth": 3, "op": "STOP", "stack": []}],
    [{"depth": 1, "op": "CALL", "stack": ["0x0"]}],
    [{"depth": 1, "op": "CREATE", "stack": 3 * ["0x1"]}],
    [{"depth": 1, "op": "CREATE", "stack": 3 * ["0x1"]}, {"depth": 1, "op": "POP"}],
    [{"depth": 1, "op": "CREATE", "stack": ["what"]}],
    [{"depth": 0, "op": "STOP", "stack": []}],
    [{"op": "STOP"}],
    [7],
    7,
]


@pytest.mark.parametrize("steps", MALFORMED, ids=str)
def test_malformed_steps_are_refused(anvil, steps):
    [transaction, *_] = read_block(anvil, 1).transactions
    with pytest.raises((BadHex, KeyError, TypeError, IndexError, ValueError)):
        read_steps(transaction, steps)


ALICE, BOB = b"\x01" * 20, b"\x02" * 20
RAW = rlp.encode([[ALICE, [], [], [[1, 7]], [], []]])
JSON = [{"address": "0x" + ALICE.hex(), "balanceChanges": [{"index": "0x1", "value": "0x7"}]}]
NUMBER, HASH = 5, keccak(b"block 5")
BLOCK = DecodedBlock(
    NUMBER, HASH, bytes(32), 1, ALICE, 0, 0, [], [], block_access_list_hash=keccak(RAW)
)
TRACED = TracedBlock([], [InternalTransfer(0, 0, TransferType.CALL, ALICE, BOB, 7)], True)
NO_METHOD = {"code": -32601, "message": "the method does not exist"}
INVALID = {"code": -32602, "message": "invalid argument 0: hex string has another length"}


class Client:
    """Answers one method, or all, and notes what was requested."""

    def __init__(self, method, result, *, takes_numbers=False):
        self.method, self.result, self.takes_numbers = method, result, takes_numbers
        self.requested = []

    def __call__(self, calls, _):
        return Reply(body=[{"jsonrpc": "2.0", "id": c["id"], **self.answer(c)} for c in calls])

    def answer(self, call):
        method, [parameter] = call["method"], call["params"]
        self.requested.append((method, parameter))
        if self.method not in ("", method):
            return {"error": NO_METHOD}
        is_hash = len(parameter) == 66
        if is_hash == (self.takes_numbers or "ByBlockNumber" in method):
            return {"error": INVALID}
        return self.result if isinstance(self.result, dict) else {"result": self.result}


def read(client, times=1):
    with FaultyNode("http://127.0.0.1:1", client) as node:
        lists = AccessLists(Node([node.url]))
        return [lists.read(BLOCK, TRACED) for _ in range(times)]


def case(method, *, takes_numbers):
    """A method, the node's result, whether it takes numbers, and what it is to be asked for."""
    result = "0x" + RAW.hex() if "Raw" in method else JSON
    is_by_number = takes_numbers or "ByBlockNumber" in method
    return method, result, takes_numbers, hex(NUMBER) if is_by_number else "0x" + HASH.hex()


CASES = [case(m, takes_numbers=numbers) for m in METHODS for numbers in (False, True)]


@pytest.mark.parametrize(("method", "result", "takes_numbers", "block"), CASES)
def test_a_list_is_read_by_whatever_method_the_node_offers(method, result, takes_numbers, block):
    """The second time by the one that is known."""
    client = Client(method, result, takes_numbers=takes_numbers)
    assert read(client, 2) == [{ALICE: [(1, 7)]}] * 2
    assert client.requested[-1] == (method, block)
    assert client.requested[-2][0] == method


REFUSALS = [
    {"code": 4444, "message": "Pruned history unavailable"},
    {"code": 4445, "message": "block before Amsterdam"},
    {"code": -32001, "message": "Resource not found"},
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: error["code"])
def test_a_node_that_has_no_list_is_asked_once(error):
    client = Client("", {"error": error})
    assert read(client) == [{}]
    assert len(client.requested) == 1


NO_LISTS = [None, [], "0x", "0xc0", "0x" + RAW[:-1].hex(), [{"address": "0x1"}], 5]


@pytest.mark.parametrize("result", NO_LISTS, ids=str)
def test_what_is_not_the_header_s_list_is_none(result):
    """Also where another method has it."""
    assert read(Client("", result)) == [{}]

    class Both(Client):
        def answer(self, call):
            if call["method"] == "eth_getBlockAccessListByBlockHash":
                return {"result": JSON}
            return super().answer(call)

    assert read(Both("", result)) == [{ALICE: [(1, 7)]}]
