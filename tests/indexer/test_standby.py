"""A second indexer of the same database, which waits until the first one is away."""

import signal
import sys

import pytest

from tests.support.indexer_process import IndexerProcess

pytestmark = pytest.mark.thorough

QUICK = """
import sys
from scan.commands import main, processes
processes.SESSION = dict.fromkeys(processes.SESSION, "2s")
sys.exit(main(["index"]))
"""


class QuickIndexer(IndexerProcess):
    """Its session ends when it hangs for two seconds, so that no test waits for a minute."""

    command = (sys.executable, "-c", QUICK)


def test_a_standby_takes_over_from_one_that_hangs_and_keeps_the_lock(anvil, database_url):
    with QuickIndexer(database_url, anvil.url) as first:
        wait_for_head(first, anvil)
        with QuickIndexer(database_url, anvil.url) as second:
            first.send_signal(signal.SIGSTOP)
            anvil.mine(3)
            wait_for_head(second, anvil)
            first.send_signal(signal.SIGCONT)
            anvil.mine(3)
            wait_for_head(second, anvil)
            first.wait_for_output("another indexer writes to this database")


def wait_for_head(indexer, anvil):
    newest = anvil.call("eth_getBlockByNumber", "latest", False)
    indexer.wait_for(int(newest["number"], 16), newest["hash"])
