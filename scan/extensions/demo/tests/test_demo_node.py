"""The node that replays the demo: what it was asked before, what it was not, and nonsense."""

import gzip
import json

import pytest
import requests

from scan.ethereum.client import Node, RpcError
from scan.extensions.demo.demo_node import start
from tests.support import WAIT_S

pytestmark = pytest.mark.check

TOKEN = "0x" + 20 * "ab"
HOLDER = "0x" + 20 * "cd"
NAME = "0x06fdde03"


def block(number):
    return {
        "number": hex(number),
        "hash": f"0x{number:064x}",
        "transactions": [{"hash": f"0x{number:063x}f", "value": "0x0"}],
    }


ROWS = [
    ("eth_chainId", [], {"result": "0x7a69"}),
    ("web3_clientVersion", [], {"result": "anvil/v1.7.1"}),
    *(("eth_getBlockByNumber", [hex(n), True], {"result": block(n)}) for n in range(4)),
    ("eth_getBlockByNumber", ["latest", False], {"result": block(3)}),
    ("eth_getBalance", [HOLDER, "0x1"], {"result": "0x64"}),
    ("eth_getBalance", [HOLDER, "0x3"], {"result": "0xc8"}),
    ("eth_call", [{"to": TOKEN, "data": NAME}, "0x2"], {"result": "0x" + 64 * "1"}),
    ("eth_call", [{"to": TOKEN, "data": "0xff"}, "0x2"], {"error": {"code": 3, "message": "no"}}),
    ("eth_getCode", [TOKEN, "0x2"], {"result": "0x60"}),
    ("eth_getBlockReceipts", ["0x1"], {"result": []}),
]


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "chain.jsonl.gz"
    write(path, ROWS)
    node = start(path)
    yield node
    node.stop()


def write(path, rows):
    lines = [json.dumps({"method": m, "params": p, **outcome}) for m, p, outcome in rows]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))


def ask(node, method, *params):
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": list(params)}
    answer = requests.post(node.url, json=request, timeout=WAIT_S).json()
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer.get("error", {}).get("code") if "error" in answer else answer["result"]


@pytest.mark.parametrize(
    ("method", "params", "expected"),  # an integer is the code of an error
    [
        ("eth_chainId", [], "0x7a69"),
        ("eth_getBlockByNumber", ["0x2", False], block(2) | {"transactions": [f"0x{2:063x}f"]}),
        ("eth_getBlockByNumber", ["0x4", True], None),
        ("eth_getBlockByHash", [block(1)["hash"], True], block(1)),
        ("eth_getBalance", [HOLDER.upper().replace("X", "x"), "0x1"], "0x64"),
        ("eth_call", [{"to": TOKEN, "data": "0xff"}, "0x2"], 3),
        # The state of the head is the one that was recorded last; an unused account has nothing.
        ("eth_getBalance", [HOLDER, "latest"], "0xc8"),
        ("eth_getBalance", [HOLDER, {"blockHash": block(1)["hash"]}], "0x64"),
        ("eth_call", [{"to": TOKEN, "data": NAME, "gas": "0x1c9c380"}, "latest"], "0x" + 64 * "1"),
        ("eth_call", [{"to": TOKEN, "input": NAME, "from": HOLDER}, "0x3"], "0x" + 64 * "1"),
        # What was not called is a function that the contract lacks; an account has no functions.
        ("eth_call", [{"to": TOKEN, "data": "0x18160ddd"}, "latest"], 3),
        ("eth_call", [{"to": "0x" + 40 * "9", "data": "0x"}, {"blockNumber": "0x3"}], "0x"),
        # What was not recorded is an error.
        ("eth_notAMethod", [], -32601),
        ("eth_getBlockReceipts", ["0x2"], -32000),
        ("eth_getBalance", [HOLDER, "tomorrow"], -32602),
        ("eth_getBalance", [HOLDER, {"blockHash": "0x77"}], -32000),
        ("eth_getBlockByNumber", [["0x1"], True], -32602),
        ("eth_call", [{"to": [1], "data": {"a": None}}, "latest"], "0x"),
    ],
)
def test_what_was_recorded_is_replayed_and_nothing_else(node, method, params, expected):
    assert ask(node, method, *params) == expected


@pytest.mark.parametrize("at", ["0x0", "earliest", "0x2", "0x4", {"blockHash": block(0)["hash"]}])
def test_the_state_of_other_blocks_is_refused_as_pruned(node, at):
    for method, sent, block_id in (
        ("eth_getBalance", HOLDER, at),
        ("eth_call", {"to": TOKEN, "data": NAME}, "0x1"),
    ):
        with pytest.raises(RpcError, match="historical state of block"):
            Node([node.url]).call(method, sent, block_id)


def test_of_a_part_of_a_chain_only_what_was_recorded_is_answered(tmp_path):
    part = [
        ("eth_getBlockByNumber", ["0x0", False], {"result": {"number": "0x0", "hash": "0x00"}}),
        *(row for row in ROWS if row[1] not in (["0x0", True], ["0x1", True])),
    ]
    write(tmp_path / "part.gz", part)
    node = start(tmp_path / "part.gz")
    try:
        assert (node.recording.first, node.recording.head) == (2, 3)
        assert ask(node, "eth_getBlockByNumber", "0x0", False)["hash"] == "0x00"
        assert ask(node, "eth_getBlockByNumber", "earliest", True) == block(2)
        assert ask(node, "eth_getBlockByNumber", "0x4", True) is None
        assert ask(node, "eth_getLogs", {"fromBlock": "0x0", "toBlock": "0x3"}) == []
        for method, params, reason in (
            ("eth_getBlockByNumber", ["0x1", True], "the recording has no block 1"),
            ("eth_getLogs", [{"fromBlock": "0x0", "toBlock": "0x4"}], "beyond current head block"),
            ("eth_getBlockReceipts", ["0x2"], "has no response to this request"),
        ):
            with pytest.raises(RpcError, match=reason):
                Node([node.url]).call(method, *params)
    finally:
        node.stop()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b'{"id": 1}', -32600),
        (b'{"id": 1, "method": "eth_chainId", "params": {}}', -32602),
    ],
)
def test_nonsense_is_a_proper_error(node, body, code):
    answer = requests.post(node.url, data=body, timeout=WAIT_S)
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, code)
