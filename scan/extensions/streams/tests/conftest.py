"""One server with a chain that tests add to."""

from collections import namedtuple

import pytest

from scan.database.connection import Database
from tests.support import made_blocks, serving
from tests.support.database import insert

WITHOUT_LIMITS = {"SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute"}


Streaming = namedtuple("Streaming", "database_url chain server")


def announce_blocks(database_url):
    """Without a row of the chain nobody is notified."""
    insert(database_url, "chain", chain_id=1)


@pytest.fixture(scope="package")
def streaming(postgres, template):
    with postgres.cloned(template) as url:
        database = Database(url, statement_timeout_ms=0)
        chain = made_blocks.Chain(database)
        announce_blocks(url)
        chain.append()
        with serving.gunicorn(url, **WITHOUT_LIMITS) as address:
            yield Streaming(url, chain, address)
        database.close()


@pytest.fixture
def chain(streaming):
    return streaming.chain


@pytest.fixture
def server(streaming):
    return streaming.server
