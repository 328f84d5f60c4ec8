"""A contract that the node cannot call: it is read alone, and stops no other."""

import pytest

from scan.ethereum import client, served_chain, token_metadata
from scan.indexer import state_reader
from scan.indexer.state_reader import StateQuery, StateReader
from tests.support import faulty_node, indexing, serving
from tests.support.database import execute, wait_for_problem
from tests.support.table_digest import digest, fresh_digest

TIMEOUT_S, LATE = 0.3, "did not respond in time"


def is_call_of(contract):
    return lambda call: call["method"] == "eth_call" and call["params"][0]["to"] == contract.address


def two_coins(anvil):
    """Contracts, their addresses, and what is read of them."""
    coins = [anvil.deploy(anvil.accounts[0], "Coin", "Coin", "COIN", 18) for _ in range(2)]
    newest = anvil.call("eth_getBlockByNumber", "latest", False)
    block = served_chain.BlockId(int(newest["number"], 16), bytes.fromhex(newest["hash"][2:]))
    addresses = [bytes.fromhex(coin.address[2:]) for coin in coins]
    queries = [StateQuery(a, data, block) for a in addresses for data in token_metadata.TOKEN_CALLS]
    return coins, addresses, queries


def test_a_contract_that_the_node_cannot_call_is_waited_for_and_then_taken_as_refused(node, anvil):
    (broken, _), (of_broken, of_honest), queries = two_coins(anvil)
    node.fault = faulty_node.refuse(is_call_of(broken), -32603, "Internal error")
    patient = StateReader(client.Node([node.url]))
    without_others = StateReader(client.Node([node.url]), patience_s=0)
    for reader, of_contracts in (
        (patient, queries),
        (patient, queries[::-1]),  # of another one first, which answers
        (without_others, [query for query in queries if query.address == of_broken]),
    ):
        with pytest.raises(client.StateUnavailable, match=f"of contract {broken.address} fails"):
            reader.read(of_contracts)
        assert reader.unreadable == set()
    waiting_no_more = StateReader(client.Node([node.url]), patience_s=0)
    results = waiting_no_more.read(queries[::-1])
    assert waiting_no_more.unreadable == {of_broken}
    assert {query.address for query, result in results.items() if result} == {of_honest}


@pytest.mark.thorough
def test_a_contract_whose_calls_hang_is_read_alone(node, anvil):
    (hanging, _), addresses, queries = two_coins(anvil)

    def fail_or_answer(calls, forward):
        if any(map(is_call_of(hanging), calls)):
            return faulty_node.hang(2)(calls, forward)
        return faulty_node.Reply(body=forward(calls))

    node.fault = fail_or_answer
    reader = StateReader(client.Node([node.url], timeout_s=TIMEOUT_S), patience_s=TIMEOUT_S)
    with pytest.raises(client.StateUnavailable, match=f"of contract {hanging.address} fails"):
        reader.read(queries)
    results = reader.read(queries)
    assert reader.unreadable == {addresses[0]}
    assert {query.address for query, result in results.items() if result} == {addresses[1]}
    node.fault = faulty_node.hang(2)
    with pytest.raises(client.NodeError, match=LATE):  # of the node, which is nobody's fault
        reader.read(queries)


@pytest.mark.thorough
def test_one_contract_that_the_node_cannot_call_stops_no_other(
    node, anvil, database_url, monkeypatch, postgres, template
):
    monkeypatch.setattr(state_reader, "UNREADABLE_AFTER_S", 1.0)
    monkeypatch.setattr(state_reader, "READ_AGAIN_S", 0.5)
    me = anvil.accounts[0]
    broken, honest = (anvil.deploy(me, "WideCoin") for _ in "12")
    for coin in broken, honest:
        for call in ("label", "Name", "NAME"), ("mint", me, 5):
            anvil.receipt_of(anvil.transact(me, coin, *call))
    node.fault = faulty_node.refuse(is_call_of(broken), -32603, "Internal error")

    def tokens():
        rows = "SELECT '0x' || encode(address, 'hex'), name, read_block IS NULL FROM tokens"
        return {address: row for address, *row in execute(database_url, rows)}

    with indexing.Indexing(database_url, node.url) as index:
        wait_for_problem(database_url, f"eth_call of contract {broken.address} fails")
        expected = {broken.address: ["", True], honest.address: ["Name", False]}
        serving.wait_until(lambda: tokens() == expected)
        anvil.receipt_of(anvil.transact(me, honest, "mint", me, 5))
        supplies = "SELECT count(*) FROM tokens WHERE total_supply = 10"
        serving.wait_until(lambda: execute(database_url, supplies) == [(1,)])
        assert tokens() == expected
        node.fault = None
        index.wait_for(anvil.head())
    assert digest(database_url) == fresh_digest(postgres, template, anvil)
