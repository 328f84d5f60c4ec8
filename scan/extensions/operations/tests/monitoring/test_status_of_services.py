"""`scan status` of services that are not there, and for scripts."""

import json

import pytest

from tests.commands.test_command import scan
from tests.support import database, indexing, serving


@pytest.mark.check
def test_status_of_nobody(tmp_path):
    done = scan("status", "--json", PORT="1")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "unreachable"


def test_status_is_for_scripts(database_url, anvil):
    with (
        indexing.Indexing(database_url, anvil.url, until=anvil.head()),
        serving.gunicorn(database_url, RPC_URL=anvil.url) as server,
    ):
        done = scan("status", "--json", "--url", server)
        assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ready")
        near = scan("status", "--most-behind", "0", "--url", server)
        assert near.returncode == 0 and ", 0 blocks behind the node;" in near.stdout
        database.execute(database_url, "DROP TABLE migrations")
        # /readyz may be an answer of a second ago.
        serving.wait_until(lambda: scan("status", "--url", server).returncode == 1)
        assert "unavailable" in scan("status", "--url", server).stdout


def test_an_index_is_not_ready_and_up_to_date_without_its_node(database_url):
    """Nothing is indexed, and the node is not there: its newest block is not known."""
    with serving.gunicorn(database_url) as server:
        done = scan("status", "--most-behind", "10", "--url", server)
        state = json.loads(scan("status", "--json", "--url", server).stdout)
    assert done.returncode == 1
    assert "no block is indexed yet, how far behind is not known" in done.stdout
    assert "ready" not in done.stdout and "problem: the node cannot be reached" in done.stdout
    assert state["lagBlocks"] is state["headBlock"] is None
