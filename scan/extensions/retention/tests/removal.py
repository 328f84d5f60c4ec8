"""Indexes whose oldest blocks are removed."""

from argparse import Namespace
from collections import namedtuple
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from app import create_app
from scan.database.connection import Database
from scan.extensions.retention import keep_command
from scan.extensions.retention.maintenance import Retention
from scan.settings import Keep
from tests.support import indexing, table_digest
from tests.support.database import execute, insert, name_in, use_short_checkpoints
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


@contextmanager
def whole_index(postgres, template, scenario, logs="all"):
    """The settings of an index that has all rows."""
    with postgres.cloned(template) as whole:
        use_short_checkpoints(whole)
        options = {"logs": logs, "partition_rows": PARTITION_ROWS}
        own = indexing.Indexing(whole, scenario.anvil.url, **options)
        yield own.run_until(scenario.anvil.head()).settings


@pytest.fixture(scope="module")
def whole_settings(postgres, template, scenario):
    with whole_index(postgres, template, scenario) as settings:
        yield settings


@contextmanager
def pruned_copy(postgres, settings, first, kept=()):
    """The settings of a copy without rows before a block, but of kept addresses, and a digest of
    it before these were removed."""
    with postgres.cloned(name_in(settings.database_url)) as url:
        before = table_digest.digest(url)
        own = replace(settings, database_url=url, read_database_url=url)
        if kept:
            options = Namespace(addresses=kept, file=None, watched=False)
            assert keep_command.add_some(own, options) == 0
        partitions = execute(url, PARTS, "transactions")
        remove(url, first)
        assert execute(url, PARTS, "transactions") < partitions
        yield own, before


@pytest.fixture(scope="module")
def pruned(postgres, whole_settings, scenario):
    first = scenario.anvil.head() // 2
    with pruned_copy(postgres, whole_settings, first) as (kept, before):
        clients = (create_app(s).test_client() for s in (whole_settings, kept))
        yield Pruned(*clients, kept, first, before)
