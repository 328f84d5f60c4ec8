"""Traces of blocks in bulk, where old rows are removed."""

import threading
from contextlib import closing

import pytest

from scan.ethereum.client import Node
from scan.extensions.backfill.plan import CannotBackfill
from scan.extensions.backfill.tests.backfilling import opened
from scan.extensions.backfill.trace_backfill import TraceBackfill
from scan.extensions.retention.maintenance import Retention
from scan.settings import Keep
from tests.support import indexing, table_digest


def test_nothing_is_computed_of_rows_that_began_to_be_removed(database_url, anvil):
    anvil.deploy(anvil.accounts[0], "Maker")
    anvil.call("anvil_setBlockTimestampInterval", 7_200)  # rows are removed by whole hours
    anvil.mine(3)
    indexing.Indexing(database_url, anvil.url, traces="off").run_until(anvil.head())
    with closing(opened(database_url)) as database:
        backfill = TraceBackfill(database, Node([anvil.url]), threading.Event())
        assert sum(backfill.read()) > 0
        assert Retention(database, Keep(2, None), finality=1).step(anvil.head())
        before = table_digest.digest(database_url)
        with pytest.raises(CannotBackfill, match="SCAN_KEEP"):
            backfill.write(partition_rows=100)
    assert table_digest.digest(database_url) == before
