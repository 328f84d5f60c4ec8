"""Which blocks the node calls safe and finalized: asked once for each newest block."""

import pytest

from scan.concurrency.waiting_threads import WaitingThreads
from scan.ethereum.client import Node
from scan.ethereum.request_node import PAUSE_S, Finality, FinalityReader, NodeGateway
from scan.hex import to_hex
from tests.support import faulty_node, serving

pytestmark = pytest.mark.check

HASH = bytes(31) + b"\1"


def tagged(hash_=HASH, **others):
    """A node's blocks by tag, and of numbers; all have one hash."""
    numbers = {"safe": "0x3c", "finalized": "0x32", "latest": "0x64", **others}

    def reply(calls, _):
        requested = [(call["id"], call["params"][0]) for call in calls]
        answered = [(id_, numbers.get(tag, tag)) for id_, tag in requested]
        blocks = [(id_, n and {"number": n, "hash": to_hex(hash_)}) for id_, n in answered]
        return faulty_node.Reply(body=[{"id": id_, "result": block} for id_, block in blocks])

    return reply


@pytest.fixture
def node():
    with faulty_node.FaultyNode(serving.NOWHERE, tagged()) as node:
        yield node


@pytest.fixture
def session(node):
    return NodeGateway(Node([node.url]), WaitingThreads()).session("a")


def hash_at(_number):
    return HASH


def test_the_node_is_asked_once_for_each_newest_block(node, session):
    reader = FinalityReader()
    assert [reader.at(session, 100, hash_at) for _ in range(3)] == [Finality(60, 50)] * 3
    assert node.requests == 1
    assert reader.at(session, 55, hash_at) == Finality(55, 50)  # block 60 is not indexed yet
    assert node.requests == 2


@pytest.mark.parametrize(
    "said",
    [
        {"finalized": "0x28"},  # it falls
        {"finalized": "0x65"},  # above the node's own head
        {"finalized": "0x3d"},  # above the safe block
        {"finalized": "0x5a", "safe": None, "hash_": bytes(32)},  # of another chain
    ],
)
def test_what_contradicts_the_index_or_itself_is_not_believed(said, node, session):
    """Nothing that was final becomes less, and nothing is that is not indexed."""
    reader = FinalityReader()
    assert reader.at(session, 99, hash_at) == Finality(60, 50)
    node.fault = tagged(**said)
    finalized = reader.at(session, 100, hash_at)
    assert finalized.finalized == 50 and finalized.safe in (None, 60)


@pytest.mark.parametrize("indexed", [bytes(32), None])
def test_an_index_on_a_dropped_branch_has_no_finality_of_the_node(indexed, session):
    """Also where that was in the chain before."""
    reader = FinalityReader()
    assert reader.at(session, 55, lambda _: indexed) == Finality()
    assert reader.at(session, 55, hash_at) == Finality(55, 50)
    assert reader.at(session, 54, lambda _: indexed) == Finality()


@pytest.mark.parametrize(
    ("code", "message", "is_kept"),
    [(-32000, "finalized block not found", True), (-32603, "Internal error", False)],
)
def test_that_the_chain_has_no_finality_is_remembered_and_no_failure(
    node, session, code, message, is_kept
):
    node.fault = faulty_node.node_error(code, message)
    reader = FinalityReader()
    assert reader.at(session, 100, hash_at) == Finality(None, None)
    node.fault = tagged()
    assert reader.at(session, 100, hash_at) == (Finality() if is_kept else Finality(60, 50))


def test_others_do_not_wait_for_a_node_that_did_not_answer(node, session):
    now = 1000.0
    node.fault = faulty_node.cut_connection
    reader = FinalityReader(lambda: now)
    assert reader.at(session, 100, hash_at) == Finality(None, None)
    requests = node.requests
    node.fault = tagged()
    other = NodeGateway(Node([node.url]), WaitingThreads()).session("b")
    assert reader.at(other, 100, hash_at) == Finality(None, None)
    assert node.requests == requests
    now += PAUSE_S
    assert reader.at(other, 100, hash_at) == Finality(60, 50)
