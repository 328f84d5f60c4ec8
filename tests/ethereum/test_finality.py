"""Which blocks the node calls safe and finalized: asked once for each newest block."""

import pytest

from scan.ethereum.client import Node
from scan.ethereum.request_node import Finality, FinalityReader, NodeGateway
from scan.hex import to_hex
from scan.rate_limits.concurrency import WaitingThreads
from tests.support import faulty_node, serving

pytestmark = pytest.mark.check

NUMBERS = {"safe": "0x3c", "finalized": "0x32"}
HASH = bytes(31) + b"\1"


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
                    "hash": to_hex(HASH),
                },
            }
            for call in calls
        ]


def newest_hash():
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
    assert [reader.at(session, 100, newest_hash) for _ in range(3)] == [Finality(60, 50)] * 3
    assert node.requests == 1
    assert reader.at(session, 55, newest_hash) == Finality(55, 50)  # block 60 is not indexed yet
    assert node.requests == 3  # and that block is of the node's chain
    assert reader.finalized == 50  # whatever the node answers later


@pytest.mark.parametrize("indexed", [bytes(32), None])
def test_an_index_on_a_dropped_branch_has_no_finality_of_the_node(indexed, node, session):
    reader = FinalityReader()
    assert reader.at(session, 55, lambda: indexed) == Finality()
    assert reader.at(session, 55, newest_hash) == Finality(55, 50)


def test_that_the_chain_has_no_finality_is_remembered(node, session):
    node.fault = faulty_node.node_error(-32000, "finalized block not found")
    reader = FinalityReader()
    assert (
        reader.at(session, 100, newest_hash)
        == Finality(None, None)
        == reader.at(session, 100, newest_hash)
    )
    assert node.requests == 1


def test_a_failure_of_the_node_is_not_remembered(node, session):
    node.fault = faulty_node.node_error(-32603, "Internal error")
    reader = FinalityReader()
    assert reader.at(session, 100, newest_hash) == Finality(None, None)
    node.fault = None
    assert reader.at(session, 100, newest_hash) == Finality(60, 50)


def test_others_do_not_wait_for_a_node_that_did_not_answer(node, session, monkeypatch):
    monkeypatch.setattr("scan.ethereum.request_node.PAUSE_S", 60.0)
    node.fault = faulty_node.cut_connection
    reader = FinalityReader()
    assert reader.at(session, 100, newest_hash) == Finality(None, None)
    requests = node.requests
    node.fault = None
    other = NodeGateway(Node([node.url]), WaitingThreads()).session("b")
    assert reader.at(other, 100, newest_hash) == Finality(None, None)
    assert node.requests == requests
    monkeypatch.setattr(reader, "_paused_until", 0.0)
    assert reader.at(other, 100, newest_hash) == Finality(60, 50)
