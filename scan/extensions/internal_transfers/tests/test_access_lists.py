"""Access lists (EIP-7928) by each client's method, parameter and way to have none."""

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import Node
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.internal_transfers.trace_checks import METHODS, AccessLists
from scan.indexer.hooks import TracedBlock
from tests.support.faulty_node import FaultyNode, Reply

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
        return Reply(body=[{"jsonrpc": "2.0", "id": c["id"], **self._answer(c)} for c in calls])

    def _answer(self, call):
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


@pytest.mark.parametrize("takes_numbers", [False, True], ids=["hash", "number"])
@pytest.mark.parametrize("method", METHODS)
def test_a_list_is_read_by_whatever_method_the_node_offers(method, takes_numbers):
    """The second time by the one that is known."""
    result = "0x" + RAW.hex() if "Raw" in method else JSON
    client = Client(method, result, takes_numbers=takes_numbers)
    assert read(client, 2) == [{ALICE: [(1, 7)]}] * 2
    by_number = takes_numbers or "ByBlockNumber" in method
    assert client.requested[-1] == (method, hex(NUMBER) if by_number else "0x" + HASH.hex())
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
        def _answer(self, call):
            if call["method"] == "eth_getBlockAccessListByBlockHash":
                return {"result": JSON}
            return super()._answer(call)

    assert read(Both("", result)) == [{ALICE: [(1, 7)]}]
