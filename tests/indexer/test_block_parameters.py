"""State by block hash where a node takes it (EIP-1898), else by number: tried out, not assumed."""

import pytest

from scan.concurrency.waiting_threads import WaitingThreads
from scan.errors import UpstreamFailed
from scan.ethereum import request_node
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.ethereum.request_node import NodeGateway
from scan.ethereum.served_chain import BlockId
from tests.support import faulty_node, indexing, table_digest
from tests.support.anvil import Anvil
from tests.support.indexing import status
from tests.support.scenario import stage, tokens


def newest(anvil):
    block = anvil.call("eth_getBlockByNumber", "latest", False)
    return BlockId(int(block["number"], 16), bytes.fromhex(block["hash"][2:]))


def balance_at(node, address, block):
    return int(node.call("eth_getBalance", address, block), 16)


def test_who_ignores_block_hashes_is_read_by_number(postgres, template, database_url, anvil, node):
    """As one that refuses them is, below."""
    tokens.honest_tokens(stage.Stage(anvil))
    node.fault = faulty_node.ignore_block_hashes
    with indexing.Indexing(database_url, node.url, until=anvil.head()):
        assert status(database_url)["stateReadBy"] == "blockNumber"
    assert table_digest.digest(database_url) == table_digest.fresh_digest(postgres, template, anvil)


def test_it_is_tried_again_where_the_node_behind_the_address_was_changed(anvil, node):
    anvil.mine(3)
    client, block = Node([node.url]), newest(anvil)
    assert balance_at(client, anvil.accounts[0], block) > 0
    assert client.takes_block_hashes is True
    for fault in (faulty_node.refuse_block_objects, faulty_node.refuse_block_hashes):
        node.fault = fault
        with pytest.raises(NodeError, match="no longer takes block hashes"):
            balance_at(client, anvil.accounts[0], block)
        assert balance_at(client, anvil.accounts[0], block) > 0
        assert client.takes_block_hashes is False
        node.fault = faulty_node.status(503)
        with pytest.raises(NodeError, match="503"):
            balance_at(client, anvil.accounts[0], block)
        node.fault = None
        assert balance_at(client, anvil.accounts[0], block) > 0
        assert client.takes_block_hashes is True


def test_each_of_several_nodes_is_asked_in_its_own_way(anvil, node):
    anvil.mine(3)
    node.fault = faulty_node.refuse_block_objects
    with faulty_node.FaultyNode(anvil.url) as first:
        client, block = Node([first.url, node.url]), newest(anvil)
        assert balance_at(client, anvil.accounts[0], block) > 0
        assert client.takes_block_hashes is True
        first.fault = faulty_node.cut_connection
        assert balance_at(client, anvil.accounts[0], block) > 0
        assert client.takes_block_hashes is False


def test_by_number_another_fork_is_refused(anvil, node):
    anvil.mine(3)
    node.fault = faulty_node.refuse_block_objects
    client, block = Node([node.url]), newest(anvil)
    assert balance_at(client, anvil.accounts[0], block) > 0
    anvil.call("anvil_setCoinbase", anvil.accounts[3])
    anvil.reorganise(1)
    with pytest.raises(NodeError, match="block 3 changed while its state was read"):
        balance_at(client, anvil.accounts[0], block)
    with pytest.raises(NodeError, match="block 9 changed while its state was read"):
        balance_at(client, anvil.accounts[0], BlockId(9, bytes(32)))


def test_a_node_that_refuses_once_is_no_node_without_block_hashes(anvil, node):
    """As one of several behind an address that has yet to see the block."""
    anvil.mine(3)
    refusals = iter([True])

    def refuse_once(calls, forward):
        if isinstance(calls[0]["params"][-1], dict) and next(refusals, False):
            return faulty_node.node_error(-32000, "header not found")(calls, forward)
        return faulty_node.Reply(body=forward(calls))

    node.fault = refuse_once
    client = Node([node.url])
    assert balance_at(client, anvil.accounts[0], newest(anvil)) > 0
    assert client.takes_block_hashes is True


@pytest.fixture
def elsewhere(anvil):
    """A node on another fork."""
    with Anvil() as other, faulty_node.FaultyNode(other.url) as proxy:
        other.mine(3)
        anvil.call("anvil_setCoinbase", anvil.accounts[3])
        anvil.mine(3)
        yield proxy


def test_a_balancer_whose_nodes_lack_a_block_shows_nothing_of_block_hashes(anvil, node, elsewhere):
    """It is sent them meanwhile: of a number it would give another fork's state."""
    client, block = Node([node.url]), newest(anvil)
    node.fault = faulty_node.routed(faulty_node.names_block_hash, elsewhere.forward)
    for _ in range(2):
        with pytest.raises(RpcError) as refused:
            balance_at(client, anvil.accounts[0], block)
        assert refused.value.is_missing_block and client.takes_block_hashes is None
    node.fault = None
    assert balance_at(client, anvil.accounts[0], block) > 0


def test_by_number_the_header_is_of_the_node_that_gives_the_state(anvil, node, elsewhere):
    """A balancer sent it to another node, which has the block."""
    balancer = faulty_node.balanced(node.forward, elsewhere.forward)
    node.fault = faulty_node.refuse_block_objects
    client = Node([node.url])
    assert balance_at(client, anvil.accounts[0], newest(anvil)) > 0
    node.fault = balancer
    assert balance_at(client, anvil.accounts[0], newest(anvil)) > 0
    with pytest.raises(NodeError, match="block 3 changed while its state was read"):
        balance_at(client, anvil.accounts[0], newest(anvil))


def test_a_balancer_of_two_forks_lacks_no_history(anvil, node, elsewhere):
    gateway, block = NodeGateway(Node([node.url]), WaitingThreads()), newest(anvil)
    calls = [Call("eth_getBalance", (anvil.accounts[0], block))]

    def balance():
        return request_node.read(gateway.session("a"), block, calls)

    expected = balance()
    node.fault = faulty_node.balanced(elsewhere.forward, node.forward)
    assert balance() == expected
    node.fault = faulty_node.balanced(elsewhere.forward)
    with pytest.raises(UpstreamFailed, match="does not have block 3") as refused:
        balance()
    assert int(refused.value.headers["Retry-After"]) > 0


def test_a_revert_is_an_answer_whatever_way_was_taken(anvil, node):
    failing = anvil.deploy(anvil.accounts[0], "Failing")
    call = {"to": failing.address, "data": failing.data("withReason")}
    for fault in (None, faulty_node.refuse_block_objects):
        node.fault = fault
        [result] = Node([node.url]).results([Call("eth_call", (call, newest(anvil)))])
        assert result.is_refusal
