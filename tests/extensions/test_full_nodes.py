"""Nodes without the state of old blocks: the same query of the newest one tells it, not words. Of
the core, scan.extensions.etherscan, scan.extensions.proofs and scan.extensions.traces."""

import pytest

from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.ethereum.served_chain import BlockId
from scan.extensions.traces.transaction_traces import PRUNED
from scan.hex import data
from tests.support import faulty_node
from tests.support.anvil import Anvil
from tests.support.faulty_node import WORDS_OF_PRUNED_STATE
from tests.support.indexing import Indexing, status
from tests.support.table_digest import digest

KEPT, OLD = 8, 3


@pytest.fixture(scope="module")
def anvil():
    """Tokens and transfers in old blocks, and in new ones."""
    with Anvil() as anvil:
        me, you, *_ = anvil.accounts
        for number in range(3):
            coin = anvil.deploy(me, "Coin", f"Coin {number}", "COIN", 18)
            anvil.receipt_of(anvil.transact(me, coin, "mint", you, 5))
            anvil.mine(8)
        yield anvil


def block_of(anvil, number):
    return BlockId(number, data(anvil.call("eth_getBlockByNumber", hex(number), False)["hash"]))


# The words of others are another way to the same logic; "no block" is one that is missing here.
@pytest.mark.parametrize("client_of", ["Besu", "reth", "unknown"])
def test_an_index_begins_beside_a_full_node_and_says_what_that_lacks(
    anvil, node, clone, template, client_of
):
    """As the node has the state of the newest blocks, tokens are as they are now."""
    expected = digest(Indexing(clone(template), anvil.url).run_until(anvil.head()).url)
    database_url = clone(template)
    node.fault = faulty_node.without_old_state(KEPT, *WORDS_OF_PRUNED_STATE[client_of])
    sent = anvil.call("eth_getBlockByNumber", hex(OLD), True)["transactions"]
    holder = anvil.accounts[1]
    read = ("tokens", "token_holders", "token_transfers", "addresses")  # all but what traces tell
    with Indexing(database_url, node.url, until=anvil.head()) as indexing:
        assert status(database_url)["problem"] is None
        own = digest(database_url)
        assert {table: own[table] for table in read} == {table: expected[table] for table in read}
        client = indexing.client()
        for path in (f"/api/v1/addresses/{holder}", f"/api/v1/addresses/{holder}/proof"):
            refused = client.get(f"{path}?block={OLD}")
            assert (refused.status_code, refused.json["code"]) == (422, "history_unavailable")
            assert client.get(path).status_code == 200
        query = {"module": "account", "action": "balance", "address": holder}
        then = client.get("/api", query_string={**query, "tag": hex(OLD)}).json
        assert then["result"] == "Error! The node does not have the state of this block"
        assert client.get("/api", query_string=query).json["status"] == "1"
        for transaction in sent:
            trace = client.get(f"/api/v1/transactions/{transaction['hash']}/trace")
            assert trace.json["error"] == PRUNED


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "message"), WORDS_OF_PRUNED_STATE.values(), ids=str)
def test_what_fails_at_the_newest_block_too_is_a_failure(anvil, node, code, message):
    node.fault = faulty_node.refuse(lambda call: call["method"] == "eth_getCode", code, message)
    client = Node([node.url])
    with pytest.raises(RpcError) as failed:
        client.call("eth_getCode", anvil.accounts[0], block_of(anvil, OLD))
    assert not failed.value.is_missing_state


def old_codes(anvil, count):
    block = block_of(anvil, OLD)
    return [Call("eth_getCode", (f"0x{number:040x}", block)) for number in range(count)]


def test_one_request_more_for_all_calls_of_a_batch(anvil, node):
    client = Node([node.url])
    client.call("eth_getCode", anvil.accounts[0], block_of(anvil, anvil.head()))
    node.fault = faulty_node.without_old_state(KEPT, -32000, "ask somebody older")
    requests = node.requests
    assert all(result.is_missing_state for result in client.results(old_codes(anvil, 150)))
    assert node.requests == requests + 2
    node.fault = None
    for _ in "12":
        assert client.batch(old_codes(anvil, 2)) == ["0x", "0x"]


def test_a_failure_that_has_passed_is_no_missing_state(anvil, node):
    """Nor is a call that failed together with it."""
    client = Node([node.url])
    client.call("eth_getCode", anvil.accounts[0], block_of(anvil, anvil.head()))

    def fail_once(calls, forward):
        node.fault = None
        return faulty_node.node_error(-32603, "Internal error")(calls, forward)

    for count in (1, 3):
        node.fault = fail_once
        results = client.batch(old_codes(anvil, count))
        failures = [result for result in results if isinstance(result, RpcError)]
        assert len(failures) == count - 1
        assert not any(failure.is_missing_state for failure in failures)


def test_a_node_that_dies_meanwhile_is_away(anvil, node):
    client = Node([node.url])
    client.call("eth_getCode", anvil.accounts[0], block_of(anvil, anvil.head()))
    pruned = faulty_node.without_old_state(KEPT, -32000, "ask somebody older")

    def die(calls, forward):
        reply = pruned(calls, forward)
        node.fault = faulty_node.cut_connection
        return reply

    node.fault = die
    with pytest.raises(NodeError, match="cannot be reached"):
        client.batch(old_codes(anvil, 3))


def test_only_calls_with_the_same_code_have_the_same_reason(anvil, node):
    calls = old_codes(anvil, 3)
    unwanted = calls[0].params[0]
    node.fault = faulty_node.before(
        faulty_node.refuse(lambda call: call["params"][:1] == [unwanted], -32007, "unwanted"),
        faulty_node.without_old_state(KEPT, -32000, "ask somebody older"),
    )
    results = Node([node.url]).batch(calls)
    assert [result.is_missing_state for result in results] == [False, True, True]


@pytest.mark.thorough
@pytest.mark.parametrize("error", [faulty_node.batch_error, faulty_node.batch_error_in_list])
def test_of_a_node_that_takes_no_batches_it_is_known(anvil, node, error):
    pruned = faulty_node.without_old_state(KEPT, -32000, "ask somebody older")
    node.fault = lambda calls, forward: (
        error(calls, forward) if len(calls) > 1 else pruned(calls, forward)
    )
    with pytest.raises(RpcError) as refused:
        Node([node.url]).call("eth_getCode", anvil.accounts[0], block_of(anvil, OLD))
    assert refused.value.is_missing_state


def test_a_block_that_the_node_lacks_is_no_pruned_state(anvil, node):
    """Of another fork, or one that a node which is behind does not have yet."""
    client = Node([node.url])
    for number in (OLD, anvil.head() + 1):
        with pytest.raises(RpcError) as refused:
            client.call("eth_getCode", anvil.accounts[0], BlockId(number, bytes(32)))
        assert refused.value.is_missing_block and not refused.value.is_missing_state
