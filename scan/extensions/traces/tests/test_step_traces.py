"""Steps that are malformed, and access lists (EIP-7928) by each client's method."""

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.client import Node
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.traces.step_traces import read_steps
from scan.extensions.traces.trace_checks import METHODS, AccessLists
from scan.hex import BadHex
from scan.indexer.hooks import TracedBlock
from tests.support.faulty_node import FaultyNode, Reply


@pytest.mark.parametrize(
    "steps",
    [
        [{"depth": 3, "op": "STOP", "stack": []}],
        [{"depth": 1, "op": "CALL", "stack": ["0x0"]}],
        [{"depth": 1, "op": "CREATE", "stack": 3 * ["0x1"]}, {"depth": 1, "op": "POP"}],
        [{"depth": 1, "op": "CREATE", "stack": ["what"]}],
        7,
    ],
    ids=str,
)
def test_malformed_steps_are_refused(steps):
    transaction = DecodedTransaction(0, bytes(32), ALICE, BOB, None, 0, 1, 50_000, True, 0)
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


@pytest.mark.parametrize("takes_numbers", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_list_is_read_by_whatever_method_the_node_offers(method, takes_numbers):
    """The second time by the one that is known."""
    result = {True: "0x" + RAW.hex(), False: JSON}["Raw" in method]
    is_by_number = takes_numbers or "ByBlockNumber" in method
    block = {True: hex(NUMBER), False: "0x" + HASH.hex()}[is_by_number]
    client = Client(method, result, takes_numbers=takes_numbers)
    assert read(client, 2) == [{ALICE: [(1, 7)]}] * 2
    assert client.requested[-1] == (method, block)
    assert client.requested[-2][0] == method


@pytest.mark.parametrize("code", [4444, 4445, -32001])
def test_a_node_that_has_no_list_is_asked_once(code):
    client = Client("", {"error": {"code": code, "message": "no list"}})
    assert read(client) == [{}]
    assert len(client.requested) == 1


@pytest.mark.parametrize("result", [None, [], "0x" + RAW[:-1].hex(), [{"address": "0x1"}]], ids=str)
def test_what_is_not_the_header_s_list_is_none(result):
    """Also where another method has it."""
    assert read(Client("", result)) == [{}]

    class Both(Client):
        def answer(self, call):
            if call["method"] == "eth_getBlockAccessListByBlockHash":
                return {"result": JSON}
            return super().answer(call)

    assert read(Both("", result)) == [{ALICE: [(1, 7)]}]
