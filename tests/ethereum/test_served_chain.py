"""A node of another chain is refused: at first, later, behind a proxy, among several nodes."""

import pytest

from scan.ethereum import client, served_chain
from scan.indexer.chain_identity import read_identity
from tests.support import faulty_node
from tests.support.anvil import Anvil


@pytest.fixture(scope="module")
def wrong():
    with Anvil("--chain-id", "4242") as node:
        yield node


def client_of(anvil, *urls):
    """Of the nodes at these addresses, which are to serve the chain of anvil."""
    expected = read_identity(client.Node([anvil.url]))
    return client.Node(urls, chain=served_chain.ServedChain(urls, lambda: expected))


@pytest.mark.usefixtures("chain_always_checked")
def test_a_node_that_changes_is_refused_until_it_is_right_again(anvil, wrong, node):
    """Behind a proxy, whose connections stay: it is asked again every few seconds."""
    reader = client_of(anvil, node.url)
    assert reader.call("eth_chainId") == hex(31337)
    node.upstream = wrong.url
    for _ in range(2):
        with pytest.raises(client.WrongChain, match="but the node at RPC_URL serves chain 4242"):
            reader.batch([])
            reader.call("eth_blockNumber")
        assert "serves chain 4242" in reader.wrong_chain
    node.upstream = anvil.url
    assert reader.call("eth_chainId") == hex(31337) and reader.wrong_chain == ""


def test_a_method_is_missing_where_the_node_says_so_twice(node):
    missing = [{"error": {"code": -32601, "message": "the method does not exist"}}]

    @faulty_node.altering
    def refuse_once(call, answer):
        if call["method"] == "eth_gasPrice" and missing:
            del answer["result"]
            answer.update(missing.pop())

    reader = client.Node([node.url])
    calls = [client.Call(name, ()) for name in ("eth_blockNumber", "eth_gasPrice", "eth_accounts")]
    expected = reader.batch(calls)
    node.fault = refuse_once
    assert reader.batch(calls) == expected
    node.fault = faulty_node.refuse_method("eth_gasPrice")
    first, refused, last = reader.batch(calls)
    assert [first, last] == [expected[0], expected[2]] and refused.is_missing_method


def test_nothing_is_sent_to_a_node_that_has_just_changed(anvil, wrong, node):
    methods = []

    def record(calls, forward):
        methods.extend(call["method"] for call in calls)
        return faulty_node.Reply(body=forward(calls))

    reader = client_of(anvil, node.url)
    assert reader.call("eth_chainId") == hex(31337)
    node.fault, node.upstream = record, wrong.url
    with pytest.raises(client.WrongChain):
        reader.call("eth_sendRawTransaction", "0x02")
    assert set(methods) == {"eth_chainId", "eth_getBlockByNumber"}


def test_another_node_serves_while_one_is_refused(anvil, wrong):
    reader = client_of(anvil, wrong.url, anvil.url)
    for _ in range(3):
        assert reader.call("eth_chainId") == hex(31337)
    assert "node 1 of 2 in RPC_URL serves chain 4242" in reader.wrong_chain


def test_a_node_that_has_pruned_block_0_is_known_by_its_chain_id(anvil, wrong, node):
    node.fault = faulty_node.prune(1, "null", genesis=True)
    assert client_of(anvil, node.url).call("eth_chainId") == hex(31337)
    node.upstream = wrong.url
    with pytest.raises(client.WrongChain):
        client_of(anvil, node.url).call("eth_chainId")
