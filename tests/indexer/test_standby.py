"""A second indexer of the same database, which waits until the first one is away; and a standby
database that misses what was committed last."""

import signal
import sys
import time

import pytest

from tests.support import WAIT_S
from tests.support.indexer_process import IndexerProcess

pytestmark = pytest.mark.thorough


def test_a_standby_takes_over_from_one_that_hangs_and_keeps_the_lock(anvil, database_url):
    quick = """
import sys
from scan.commands import main, processes
processes.SESSION = dict.fromkeys(processes.SESSION, "2s")
sys.exit(main(["index"]))
"""

    class QuickIndexer(IndexerProcess):
        """Its session ends when it hangs for two seconds, so that no test waits for a minute."""

        command = (sys.executable, "-c", quick)

    def wait_for_head(indexer):
        newest = anvil.call("eth_getBlockByNumber", "latest", False)
        indexer.wait_for(int(newest["number"], 16), newest["hash"])

    with QuickIndexer(database_url, anvil.url) as first:
        wait_for_head(first)
        with QuickIndexer(database_url, anvil.url) as second:
            first.send_signal(signal.SIGSTOP)
            anvil.mine(3)
            wait_for_head(second)
            first.send_signal(signal.SIGCONT)
            anvil.mine(3)
            wait_for_head(second)
            first.wait_for_output("another indexer writes to this database")


def test_ids_of_deliveries_go_on_from_the_clock_where_they_are_behind_it(world):
    """So that none is used twice, which a standby that became the primary has not seen."""
    world.sql(
        "WITH made AS (INSERT INTO webhooks VALUES"
        " (7, %s, %s, 'https://receiver.test/', '{tx}', true, now()) RETURNING id)"
        " INSERT INTO delivery_queues (webhook_id, host) SELECT id, 'receiver.test:443' FROM made",
        *[bytes.fromhex(world.me[2:])] * 2,
    )
    for _ in range(2):
        world.pay()
        world.read()
        world.sql("SELECT setval('deliveries_id_seq', 1)")
    first, second = [id_ for (id_,) in world.sql("SELECT id FROM deliveries ORDER BY id")]
    assert first < second and abs(second - time.time() * 1e6) < WAIT_S * 1e6
