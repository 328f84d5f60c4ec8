"""A node whose traces never come."""

import time

from scan.extensions.internal_transfers import block_traces
from tests.indexer.conftest import node
from tests.support import database, faulty_node
from tests.support.indexing import Indexing

__all__ = ["node"]


def test_a_trace_that_never_comes_is_given_up(node, anvil, database_url, monkeypatch, caplog):
    monkeypatch.setattr(block_traces, "TRACE_TIMEOUT_S", 0.5)
    maker = anvil.deploy(anvil.accounts[0], "Maker")
    made = []

    def hang(calls, forward):
        if len(made) == 1 and any(call["method"].startswith("debug_") for call in calls):
            time.sleep(1.0)
        return faulty_node.Reply(body=forward(calls))

    node.fault = hang
    with Indexing(database_url, node.url, until=1) as indexing:
        for _ in range(2):  # one by one: a batch is given the time of any other request
            made.append(anvil.transact(anvil.accounts[0], maker, "make"))
            anvil.mine()
            indexing.wait_for(anvil.head())
    contracts = database.execute(database_url, "SELECT block_number FROM contracts ORDER BY 1")
    assert contracts == [(1,), (3,)]
    assert "block 2 cannot be traced" in caplog.text
