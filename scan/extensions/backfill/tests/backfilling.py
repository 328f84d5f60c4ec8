"""A bulk backfill in this process, but for its worker."""

import threading

from scan.commands import audit
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.extensions.backfill import chain_backfill, resources
from tests.support.indexing import Indexing, end_session
from tests.support.scan_command import scan

MEMORY_BYTES = 256 * 1024 * 1024


def backfill(
    settings, folder, *, last_block, range_blocks=16, audit=lambda _: (), history=None, **chosen
):
    """Whether it came to its end; resources are chosen by their names."""
    database, node = (
        Database(settings.database_url, statement_timeout_ms=0),
        Node(settings.rpc_urls),
    )
    used = resources.Resources(1, MEMORY_BYTES, 2, 2, MEMORY_BYTES // 8)._replace(**chosen)
    stop = threading.Event()
    try:
        chain = chain_backfill.ChainBackfill(settings, database, node, used, audit, stop, history)
        chain.begin(folder, range_blocks, last_block)
        return chain.run()
    finally:
        end_session(database)


def follow(settings, head):
    """The ordinary indexer from there, until balances and supplies are read."""
    options = {"traces": settings.traces} | ({"logs": settings.logs} if settings.logs else {})
    with Indexing(settings.database_url, ",".join(settings.rpc_urls), **options) as indexing:
        indexing.wait_for(head)


def fill(database_url, rpc_url):
    done = scan("backfill", "traces", DATABASE_URL=database_url, RPC_URL=rpc_url)
    assert done.returncode == 0, done.stderr


def opened(database_url):
    return Database(database_url, statement_timeout_ms=0, session=audit.SESSION)
