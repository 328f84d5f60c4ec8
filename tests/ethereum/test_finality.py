"""Which blocks the node calls safe and finalized: asked once for each newest block."""

import pytest

from scan.concurrency.waiting_threads import WaitingThreads
from scan.ethereum.client import Node
from scan.ethereum.request_node import PAUSE_S, Finality, FinalityReader, NodeGateway
from scan.hex import to_hex
from tests.support import faulty_node, serving

pytestmark = pytest.mark.check

NUMBERS = {"safe": "0x3c", "finalized": "0x32", "latest": "0x64"}
HASH = bytes(31) + b"\1"
NODE_HASH = HASH


class Tagged(faulty_node.FaultyNode):
    def __init__(self):
        super().__init__(serving.NOWHERE)

    def forward(self, calls):
        return [
            {
                "jsonrpc": "2.0",
                "id": call["id"],
                "result": {
                    "number": NUMBERS.get(call["params"][0], call["params"][0]),
                    "hash": to_hex(NODE_HASH),
                }
                if NUMBERS.get(call["params"][0], "") is not None
                else None,
            }
            for call in calls
        ]


def hash_at(_number):
    return HASH


@pytest.fixture
def node():
    with Tagged() as node:
        yield node


@pytest.fixture
def session(node):
    return NodeGateway(Node([node.url]), WaitingThreads()).session("a")


def test_the_node_is_asked_once_for_each_newest_block(node, session):
    reader = FinalityReader()
    assert [reader.at(session, 100, hash_at) for _ in range(3)] == [Finality(60, 50)] * 3
    assert node.requests == 1
    assert reader.at(session, 55, hash_at) == Finality(55, 50)  # block 60 is not indexed yet
    assert node.requests == 2


@pytest.mark.parametrize(
    ("numbers", "hashes", "latest"),
    [
        ({"finalized": "0x28"}, HASH, 100),  # it falls
        ({"finalized": "0x65"}, HASH, 100),  # above the node's own head
        ({"finalized": "0x3d"}, HASH, 100),  # above the safe block
        ({"finalized": "0x5a", "safe": "0x5b"}, bytes(32), 100),  # of another chain
        ({"finalized": "0x5a", "safe": None}, bytes(32), 100),
    ],
)
def test_what_contradicts_the_index_or_itself_is_not_believed(
    numbers, hashes, latest, node, session, monkeypatch
):
    """Nothing that was final becomes less, and nothing is that is not indexed."""
    reader = FinalityReader()
    assert reader.at(session, 99, hash_at) == Finality(60, 50)
    monkeypatch.setitem(NUMBERS, "latest", hex(latest))
    for tag, number in numbers.items():
        monkeypatch.setitem(NUMBERS, tag, number)
    monkeypatch.setitem(globals(), "NODE_HASH", hashes)
    finalized = reader.at(session, 100, hash_at)
    assert finalized.finalized == 50 and finalized.safe in (None, 60)


def test_what_was_final_ends_with_its_block(session):
    reader = FinalityReader()
    assert reader.at(session, 99, hash_at) == Finality(60, 50)
    fork = bytes(31) + b"\2"
    assert reader.at(session, 55, lambda _: fork) == Finality()


@pytest.mark.parametrize("indexed", [bytes(32), None])
def test_an_index_on_a_dropped_branch_has_no_finality_of_the_node(indexed, node, session):
    reader = FinalityReader()
    assert reader.at(session, 55, lambda _: indexed) == Finality()
    assert reader.at(session, 55, hash_at) == Finality(55, 50)


def test_that_the_chain_has_no_finality_is_remembered(node, session):
    node.fault = faulty_node.node_error(-32000, "finalized block not found")
    reader = FinalityReader()
    assert (
        reader.at(session, 100, hash_at) == Finality(None, None) == reader.at(session, 100, hash_at)
    )
    assert node.requests == 1


def test_a_failure_of_the_node_is_not_remembered(node, session):
    node.fault = faulty_node.node_error(-32603, "Internal error")
    reader = FinalityReader()
    assert reader.at(session, 100, hash_at) == Finality(None, None)
    node.fault = None
    assert reader.at(session, 100, hash_at) == Finality(60, 50)


def test_others_do_not_wait_for_a_node_that_did_not_answer(node, session):
    now = 1000.0
    node.fault = faulty_node.cut_connection
    reader = FinalityReader(lambda: now)
    assert reader.at(session, 100, hash_at) == Finality(None, None)
    requests = node.requests
    node.fault = None
    other = NodeGateway(Node([node.url]), WaitingThreads()).session("b")
    assert reader.at(other, 100, hash_at) == Finality(None, None)
    assert node.requests == requests
    now += PAUSE_S
    assert reader.at(other, 100, hash_at) == Finality(60, 50)
