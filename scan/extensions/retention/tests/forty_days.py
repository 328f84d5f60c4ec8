"""A chain of forty days of which twenty are kept."""

import time
from collections import namedtuple
from contextlib import closing

import pytest

from scan.database.connection import Database
from scan.extensions.retention.maintenance import Retention
from scan.indexer import partitions, writer
from scan.settings import Keep
from tests.support import indexing
from tests.support.database import execute, name_in, use_short_checkpoints
from tests.support.made_blocks import Chain, Move, address
from tests.support.serving import NOWHERE
from tests.support.world import DAY_S

ANNA, BERT, CARL = address("anna"), address("bert"), address("carl")
DAYS, KEPT_DAYS = 40, 20
KEEP, FINALITY = Keep(None, KEPT_DAYS * DAY_S), 4
ROWS = "SELECT count(*)::int FROM transactions"
FIRST = "SELECT first_block::int FROM retention"


class Followed(namedtuple("Followed", "settings chain retention hashes rows first")):
    """A chain of forty days of which twenty are kept; `hashes` are those of each block's
    transactions, `rows` were stored after each block."""


def moves(number):
    """Two transactions of which one is a transfer; CARL is seen in block 3 alone."""
    other = CARL if number == 3 else address(f"somebody {number % 40}")
    return [Move(ANNA, BERT, tokens=2), Move(BERT, other)]


def remove(retention, head):
    while retention.step(head):
        pass


@pytest.fixture(scope="module")
def forty_days(postgres, template):
    first_s = int(time.time()) - DAYS * DAY_S
    with postgres.cloned(template) as url, pytest.MonkeyPatch.context() as patch:
        use_short_checkpoints(url)
        patch.setattr(partitions, "LEAST_KEPT_ROWS", 1)
        with closing(Database(url, statement_timeout_ms=0)) as database:
            own = Retention(database, KEEP, FINALITY, wait_s=0.0)
            chain = Chain(database, writer.Writer(database, 10**6, KEEP))
            hashes, rows = [], []
            for number in range(DAYS):
                at_s = first_s + number * DAY_S
                hashes.append(chain.append(moves(number), timestamp_s=at_s))
                remove(own, number)
                rows.append(execute(url, ROWS)[0][0])
        [(first,)] = execute(url, FIRST)
        yield Followed(indexing.settings_for(url, NOWHERE), chain, own, hashes, rows, first)


@pytest.fixture
def followed(clone, forty_days):
    url = clone(name_in(forty_days.settings.database_url))
    with closing(Database(url, statement_timeout_ms=0)) as database:
        yield forty_days._replace(
            settings=indexing.settings_for(url, NOWHERE),
            chain=forty_days.chain.over(database, writer.Writer(database, 10**6, KEEP)),
            retention=Retention(database, KEEP, FINALITY, wait_s=0.0),
        )
