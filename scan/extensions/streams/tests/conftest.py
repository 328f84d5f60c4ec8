"""What takes the events of a stream, and a chain whose events a server streams."""

import threading
from contextlib import closing

import pytest

from scan.database.connection import Database
from tests.support.database import insert
from tests.support.made_blocks import Chain

WITHOUT_LIMITS = {"SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute"}


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


@pytest.fixture(scope="module")
def chain(shared_database_url):
    """Of the index of `shared_server`; each test takes it as the one before has left it."""
    with closing(Database(shared_database_url, statement_timeout_ms=0)) as database:
        insert(shared_database_url, "chain", chain_id=1)  # else nobody is notified
        chain = Chain(database)
        chain.append()
        yield chain
