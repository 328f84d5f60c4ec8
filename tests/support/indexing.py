"""The real indexer, run inside a test until it has nothing left to do."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from weakref import WeakSet

import psycopg2

from app import create_app
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.indexer.block_source import BlockSource
from scan.indexer.chain_indexer import ChainIndexer
from scan.indexer.partitions import DEFAULT_ROWS
from scan.indexer.prefetch import CATCH_UP
from scan.settings import Settings
from tests.support import WAIT_S
from tests.support.serving import NOWHERE, ROOT

INDEX = """
import sys
from tests.support.indexing import Indexing
Indexing(*sys.argv[1:3]).run_until(int(sys.argv[3]))
"""

ANY = {"limit": 1, "addresses": None, "passed_over": []}
UNREAD = {"done": b"", "after": b"", "limit": 1}
APPLICATIONS = WeakSet()  # whose clients ask about what is indexed meanwhile
# With a small one, such as 40, every test that indexes a chain has partitions.
TEST_PARTITION_ROWS = int(os.environ.get("SCAN_TEST_PARTITION_ROWS", DEFAULT_ROWS))


class _Stop(threading.Event):
    """Set to stop the follower; `wake` ends its wait for the next step, which sets `waits`."""

    has_waited = False  # so that what it does when it begins is done

    def __init__(self):
        super().__init__()
        self.waits = threading.Event()
        self._awake = threading.Event()

    def set(self):
        super().set()
        self._awake.set()

    def wake(self):
        self._awake.set()

    def wait(self, timeout=None):
        if not self.is_set():
            self.has_waited = True
            self.waits.set()
            self._awake.wait(timeout)
            self._awake.clear()
        return self.is_set()


class Indexing:
    """Follows a node into a database for as long as the context lasts.

    The context begins once the block `until` is indexed, where that is given.
    """

    def __init__(self, database_url, rpc_url, *, until=None, limits=CATCH_UP, **settings):
        self._until = until
        self.settings = settings_for(database_url, rpc_url, **settings)
        self._database = Database(database_url, statement_timeout_ms=10_000)
        self._limits = limits
        self._stop = _Stop()
        self._thread = threading.Thread(target=self._follow, name="indexing", daemon=True)

    def __enter__(self):
        self._thread.start()
        if self._until is not None:
            self.wait_for(self._until)
        return self

    def __exit__(self, *_):
        self.stop()
        self.wait_for_end()
        self._database.close()

    def stop(self):
        self._stop.set()

    def wait_for_end(self):
        self._thread.join(WAIT_S)

    def run_until(self, block_number):
        with self:
            self.wait_for(block_number)
        return self

    @property
    def url(self):
        return self.settings.database_url

    def client(self, **settings):
        """Return a client of the service over this index, with settings of its own."""
        return _client(replace(self.settings, **settings))

    def look(self):
        """The node has another block: the follower is not to wait until its next look."""
        self._stop.wake()

    def wait_for(self, block_number, *, or_later=False):
        """Until the block is indexed, and balances and supplies are those of its state; clients
        see that: on a busy machine the notification may come after their next request. `or_later`
        is for a node that mines meanwhile."""

        def is_it(head):
            return head == block_number or (or_later and head > block_number)

        deadline = time.monotonic() + WAIT_S
        self.look()
        while not (self._stop.has_waited and self._is_done(is_it)):
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise AssertionError(f"block {block_number} is not indexed: {self._status()}")
            self._stop.waits.wait(0.2)
            self._stop.waits.clear()
        for application in APPLICATIONS:  # which learn of it later, as notifications come
            application.wsgi_app.index_version.expire()

    def _is_done(self, is_it):
        head = self._database.row("indexer/blocks_get_head")
        return (
            head is not None
            and is_it(head[0])
            # Those that are idle become stale.
            and self._database.row("indexer/tokens_list_idle", **UNREAD)[1] is None
            and not self._database.rows("indexer/tokens_list_stale", **ANY)
            and not self._database.rows("indexer/contract_changes_list_unread", **ANY)
            and not self._database.rows("indexer/tokens_list_undated", limit=1, passed_over=[])
            and not self._database.rows("indexer/addresses_list_stale", limit=1)
        )

    def _status(self):
        return self._database.row("queries/chain_get_status", version="", chain_name=None)[1]

    def _follow(self):
        database = Database(self.settings.database_url, statement_timeout_ms=0)
        try:
            node = Node(self.settings.rpc_urls)
            ChainIndexer(self.settings, database, node, self._stop, limits=self._limits).run()
        finally:
            end_session(database)


def end_session(database):
    """Give back the lock of the indexer before the connection is closed: its server notices the end
    of a session later, and who writes next would be refused until then."""
    connection = database._work.connection
    if connection is not None and not connection.closed:
        with suppress(psycopg2.Error), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock_all()")
    database.close()


def settings_for(database_url, rpc_url, **settings):
    """Limits on requests are out of the way; what is about them sets its own."""
    return Settings(
        database_url=database_url,
        read_database_url=database_url,
        log_format="text+requests",
        **{
            "rpc_urls": tuple(rpc_url.split(",")),
            "partition_rows": TEST_PARTITION_ROWS,
            "data_dir": Path(os.environ.get("SCAN_DATA_DIR", "var")),
            "development_node": "off",  # what is about caches shall be, and its chain is anvil's
            "rate_limit_anonymous": "100000/second",
            "rate_limit_key": "100000/second",
            "rate_limit_pages": "100000/second",
            "rate_limit_files": "100000/second",
            **settings,
        },
    )


def batches_of(blocks, **limits):
    """Of a catch-up whose batches have as many blocks."""
    return CATCH_UP._replace(batch=CATCH_UP.batch._replace(blocks=blocks), **limits)


def client_over(database_url, rpc_url=NOWHERE, **settings):
    """Return a client of the service over a database, of which nothing follows the node."""
    return _client(settings_for(database_url, rpc_url, **settings))


def sources(client):
    """What the client's service reads, with the bounds of that, until the test ends."""
    return client.application.extensions["scan"].sources


def _client(settings):
    application = create_app(settings)
    APPLICATIONS.add(application)
    return application.test_client()


def source_of(node, **options):
    """Reads and checks blocks of a node, as the indexer does."""
    return BlockSource(Node([node.url]), **options)


def index_apart(url, node, extensions):
    """Index in another process, with these extensions alone."""
    subprocess.run(
        [sys.executable, "-c", INDEX, url, node.url, str(node.head())],
        cwd=ROOT,
        env=os.environ | {"SCAN_EXTENSIONS": extensions},
        check=True,
        timeout=WAIT_S,
    )


@lru_cache(maxsize=1)
def database_of(url):
    """Connected once for all that a test asks, as it waits."""
    return Database(url, statement_timeout_ms=1000)


def status(database_url):
    """The body of /readyz."""
    row = database_of(database_url).row("queries/chain_get_status", version="", chain_name=None)
    return dict(json.loads(row[1]))
