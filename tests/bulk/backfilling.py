"""A bulk backfill in this process, with dask's workers in it too."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

from scan.bulk.chain_backfill import ChainBackfill, Resources
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.settings import Settings
from tests.support.indexing import Indexing

MEMORY_BYTES = 256 * 1024 * 1024


@contextmanager
def local_client() -> Iterator[Any]:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


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
            Resources(local_client, MEMORY_BYTES, threads=2),
            lambda _: differences,
            threading.Event(),
        )
        chain.begin(folder, range_blocks, last_block)
        return chain.run()
    finally:
        database.close()


def follow(settings: Settings, head: int) -> None:
    """The ordinary indexer from there, until balances and supplies are read."""
    options = {"logs": settings.logs} if settings.logs else {}
    with Indexing(settings.database_url, ",".join(settings.rpc_urls), **options) as indexing:
        indexing.wait_for(head)
