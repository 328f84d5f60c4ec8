"""/readyz: a node that is slow, one that is gone and an index that is behind are told apart, also
where the indexer reports nothing."""

from pathlib import Path

import pytest

from scan.http import background_threads
from tests.support import faulty_node
from tests.support.database import execute
from tests.support.indexing import Indexing, client_over

LONG_AGO = "UPDATE indexer_status SET checked_at = now() - interval '20 seconds'"


def state(client):
    ready = client.get("/readyz").json
    return ready["indexedBlock"], ready["headBlock"], ready["lagBlocks"], ready["problem"]


def test_the_lag_is_the_nodes_while_the_indexer_reports_nothing(database_url, anvil, node):
    anvil.mine()
    indexing = Indexing(database_url, anvil.url).run_until(1)
    client = indexing.client()
    anvil.mine(3)
    execute(database_url, LONG_AGO)
    assert state(client) == (1, 4, 3, None)
    newest = client.get("/api/v1/blocks/1").json["timestamp"]
    assert client.get("/readyz").json["newestBlockAt"] == newest
    node.fault = faulty_node.hang(2)
    # What the node has reported to the indexer within a minute counts.
    assert state(client_over(database_url, node.url)) == (1, 1, 0, background_threads.SLOW)
    anvil.stop()
    assert state(indexing.client()) == (1, None, None, "the node cannot be reached")
    execute(database_url, "UPDATE indexer_status SET checked_at = now() - interval '2 hours'")
    *reached, problem = state(indexing.client())
    assert reached == [1, None, None]
    assert str(problem).startswith("the indexer has not reported since ")


@pytest.mark.thorough
def test_a_full_disk_is_a_problem_though_the_indexer_cannot_report_it(database_url, anvil, caplog):
    """The server's answer is what a full disk gives; to fill one for real needs a mount. The log
    names it once a minute."""
    indexing = Indexing(database_url, anvil.url).run_until(anvil.head())
    execute(database_url, LONG_AGO)
    client = indexing.client()
    assert state(client)[3] is None
    full = Path(__file__).with_name("full_server.sql").read_text()
    execute(database_url, full)
    client = indexing.client()
    for _ in range(3):
        assert str(state(client)[3]).startswith("The database's disk is full")
    assert caplog.text.count("disk is full; writing resumes when there is space. (could not") == 1
    assert "connection lost" not in caplog.text
