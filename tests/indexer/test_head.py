"""What a block at the head takes: no new connection, the same tables."""

import threading

import pytest

from scan.ethereum.client import Node
from scan.indexer import writer
from scan.indexer.chain_indexer import ChainIndexer
from tests.support import faulty_node
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest


@pytest.mark.parametrize("mined", [0, 1])
def test_blocks_that_the_database_lost_are_indexed_again(
    database, database_url, postgres, template, anvil, mined
):
    """As after a failover, whether the node has further blocks or not."""
    token = anvil.deploy(anvil.accounts[0], "Coin", "Coin", "COIN", 18)
    for _ in range(3):
        anvil.transact(anvil.accounts[0], token, "mint", anvil.accounts[1], 7)
        anvil.mine()
    settings = settings_for(database_url, anvil.url)
    indexer = ChainIndexer(settings, database, Node(settings.rpc_urls), threading.Event())
    while not indexer.step():
        pass
    writer.Writer(database).unwind(0)
    anvil.mine(mined)
    while not indexer.step():
        pass
    assert database.value("indexer/blocks_get_head") == anvil.head()
    assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_a_session_after_a_failure_of_the_node_asks_nothing_of_its_chain_again(
    database, database_url, anvil, node
):
    """The next step has the calls of a step without a failure; a fork is followed with the chain
    checked anew."""
    methods = []

    def note(calls, forward):
        methods.extend(call["method"] for call in calls)
        return faulty_node.Reply(body=forward(calls))

    settings = settings_for(database_url, node.url)
    indexer = ChainIndexer(settings, database, Node(settings.rpc_urls), threading.Event())

    def step():
        methods.clear()
        indexer.step()
        return list(methods)

    node.fault = note
    assert {"eth_chainId", "eth_config"} < {*step()}
    while indexer.step() == 0.0:
        pass
    anvil.mine()
    usual = step()
    assert usual.count("eth_chainId") == 1
    for _ in range(2):
        anvil.mine()
        node.fault = faulty_node.status(502)
        step()
        node.fault = note
        assert step() == usual
    fork = anvil.snapshot()
    anvil.mine()
    step()
    anvil.revert(fork)
    anvil.mine(2)
    assert "eth_config" in step()
