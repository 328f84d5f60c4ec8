"""A node of another chain is refused: at first, later, behind a proxy, among several nodes."""

import pytest

from scan.ethereum import client, served_chain
from scan.indexer.chain_identity import read_identity
from tests.support import anvil, faulty_node


@pytest.fixture(scope="module")
def right():
    with anvil.Anvil() as node:
        yield node


@pytest.fixture(scope="module")
def wrong():
    with anvil.Anvil("--chain-id", "4242") as node:
        yield node


@pytest.fixture
def proxy(right):
    with faulty_node.FaultyNode(right.url) as node:
        yield node


def node_of(right, *urls):
    expected = read_identity(client.Node([right.url]))
    return client.Node(urls, chain=served_chain.ServedChain(urls, lambda: expected))


@pytest.mark.usefixtures("chain_always_checked")
def test_a_node_that_changes_is_refused_until_it_is_right_again(right, wrong, proxy):
    """Behind a proxy, whose connections stay: it is asked again every few seconds."""
    node = node_of(right, proxy.url)
    assert node.call("eth_chainId") == hex(31337)
    proxy.upstream = wrong.url
    for _ in range(2):
        with pytest.raises(client.WrongChain, match="but the node at RPC_URL serves chain 4242"):
            node.batch([])
            node.call("eth_blockNumber")
        assert "serves chain 4242" in node.wrong_chain
    proxy.upstream = right.url
    assert node.call("eth_chainId") == hex(31337) and node.wrong_chain == ""


def answering_once(method, wrong):
    """What the node answers, but `wrong` for the first call of a method."""
    answered = []

    @faulty_node.altering
    def once(call, answer):
        if call["method"] == method and not answered:
            answered.append(wrong)
            answer.pop("result", None)
            answer.update(wrong)

    return once


def test_a_method_is_missing_where_the_node_says_so_twice(right, proxy):
    missing = {"error": {"code": -32601, "message": "the method does not exist"}}
    node = client.Node([proxy.url])
    calls = [client.Call(name, ()) for name in ("eth_blockNumber", "eth_gasPrice", "eth_accounts")]
    expected = node.batch(calls)
    proxy.fault = answering_once("eth_gasPrice", missing)
    assert node.batch(calls) == expected
    proxy.fault = faulty_node.refuse_method("eth_gasPrice")
    first, refused, last = node.batch(calls)
    assert [first, last] == [expected[0], expected[2]] and refused.is_missing_method


def test_nothing_is_sent_to_a_node_that_has_just_changed(right, wrong, proxy):
    methods = []

    def record(calls, forward):
        methods.extend(call["method"] for call in calls)
        return faulty_node.Reply(body=forward(calls))

    node = node_of(right, proxy.url)
    assert node.call("eth_chainId") == hex(31337)
    proxy.fault, proxy.upstream = record, wrong.url
    with pytest.raises(client.WrongChain):
        node.call("eth_sendRawTransaction", "0x02")
    assert set(methods) == {"eth_chainId", "eth_getBlockByNumber"}


def test_another_node_serves_while_one_is_refused(right, wrong):
    node = node_of(right, wrong.url, right.url)
    for _ in range(3):
        assert node.call("eth_chainId") == hex(31337)
    assert "node 1 of 2 in RPC_URL serves chain 4242" in node.wrong_chain


def test_a_node_that_has_pruned_block_0_is_known_by_its_chain_id(right, wrong, proxy):
    proxy.fault = faulty_node.prune(1, "null", genesis=True)
    assert node_of(right, proxy.url).call("eth_chainId") == hex(31337)
    proxy.upstream = wrong.url
    with pytest.raises(client.WrongChain):
        node_of(right, proxy.url).call("eth_chainId")
