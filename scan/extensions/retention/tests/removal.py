"""Indexes whose oldest blocks are removed."""

from collections import namedtuple
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from app import create_app
from scan.database.connection import Database
from scan.extensions.retention.maintenance import Retention
from scan.settings import Keep
from tests.support import indexing, table_digest
from tests.support.database import execute, insert, use_short_checkpoints
from tests.support.partitions import PARTS

PARTITION_ROWS = 40


class Pruned(namedtuple("Pruned", "whole kept settings first before")):
    """One chain with all rows, and with those from the block `first` on."""


def remove(url, first_block):
    """Everything before a block, as the indexer does it once that is decided."""
    insert(url, "retention", first_block=first_block, decided_at="2020-01-01")
    with closing(Database(url, statement_timeout_ms=0)) as database:
        own = Retention(database, Keep(10**9, None), 0)
        while own.step(10**9):
            pass


@pytest.fixture(scope="module")
def pruned(postgres, template, scenario):
    head = scenario.anvil.head()
    with postgres.cloned(template) as whole:
        use_short_checkpoints(whole)
        options = {"logs": "all", "partition_rows": PARTITION_ROWS}
        settings = indexing.Indexing(whole, scenario.anvil.url, **options).run_until(head).settings
        with postgres.cloned(urlsplit(whole).path.removeprefix("/")) as url:
            before = table_digest.digest(url)
            partitions = execute(url, PARTS, "transactions")
            remove(url, head // 2)
            assert execute(url, PARTS, "transactions") < partitions
            kept = replace(settings, database_url=url, read_database_url=url)
            clients = (create_app(s).test_client() for s in (settings, kept))
            yield Pruned(*clients, kept, head // 2, before)
