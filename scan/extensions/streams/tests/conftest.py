"""One server with a chain that tests add to."""

import threading
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


class Client:
    """Takes what it is sent when it is told to."""

    def __init__(self):
        self.sent = []
        self.has_ended = False
        self.most_untaken = 0  # bytes
        self._untaken = 0
        self._then = []
        self._lock = threading.Lock()

    def send(self, data, then=None):
        with self._lock:
            self.sent.append(data)
            self._untaken += len(data)
            self.most_untaken = max(self.most_untaken, self._untaken)
            if then is not None:
                self._then.append(then)

    def end(self):
        self.has_ended = True

    def take(self):
        with self._lock:
            waiting, self._then, self._untaken = self._then, [], 0
        for then in waiting:
            then()

    @property
    def events(self):
        return [text for text in b"".join(self.sent).split(b"\n\n") if b"event: " in text]


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
