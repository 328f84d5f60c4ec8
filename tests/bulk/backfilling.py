"""A bulk backfill in this process, but for its worker."""

import threading
from collections.abc import Sequence
from pathlib import Path

from scan.bulk.chain_backfill import ChainBackfill, Resources
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.settings import Settings
from tests.support.indexing import Indexing

MEMORY_BYTES = 256 * 1024 * 1024


def backfill(
    settings: Settings,
    folder: Path,
    *,
    last_block: int,
    range_blocks: int = 16,
    differences: Sequence[str] = (),
) -> bool:
    """Whether it came to its end."""
    database = Database(settings.database_url, statement_timeout_ms=0)
    try:
        chain = ChainBackfill(
            settings,
            database,
            Node(settings.rpc_urls),
            Resources(1, MEMORY_BYTES, threads=2, tables_at_once=2),
            lambda _: differences,
            threading.Event(),
        )
        chain.begin(folder, range_blocks, last_block)
        return chain.run()
    finally:
        database.close()


def follow(settings: Settings, head: int) -> None:
    """The ordinary indexer from there, until balances and supplies are read."""
    options = {"traces": settings.traces} | ({"logs": settings.logs} if settings.logs else {})
    with Indexing(settings.database_url, ",".join(settings.rpc_urls), **options) as indexing:
        indexing.wait_for(head)
