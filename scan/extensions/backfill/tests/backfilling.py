"""A bulk backfill in this process, but for its worker; or in one that a test may kill."""

import sys
import threading
import time

from scan.commands import audit
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.extensions.backfill import chain_backfill, resources
from tests.support.indexer_process import PATIENCE_S, IndexerProcess
from tests.support.indexing import Indexing, end_session
from tests.support.scan_command import scan

MEMORY_BYTES = 256 * 1024 * 1024
PROCESS_PARTITION_ROWS = 60  # below what operators may set
PROGRAM = """
import sys
from scan import settings
settings.LEAST_PARTITION_ROWS = 1
from scan.commands import main
sys.exit(main(["backfill", "chain", *sys.argv[1:]]))
"""


def backfill(
    settings,
    folder,
    *,
    last_block,
    range_blocks=16,
    audit=lambda _: (),
    cluster=None,
    history=None,
    computes_senders=True,
    processes=1,
    memory_bytes=MEMORY_BYTES,
):
    """Whether it came to its end."""
    database = Database(settings.database_url, statement_timeout_ms=0)
    try:
        chain = chain_backfill.ChainBackfill(
            settings,
            database,
            Node(settings.rpc_urls),
            resources.Resources(
                processes,
                memory_bytes,
                2,
                2,
                MEMORY_BYTES // 8,
                cluster,
                computes_senders=computes_senders,
            ),
            audit,
            threading.Event(),
            history,
        )
        chain.begin(folder, range_blocks, last_block)
        return chain.run()
    finally:
        end_session(database)


def follow(settings, head):
    """The ordinary indexer from there, until balances and supplies are read."""
    options = {"traces": settings.traces} | ({"logs": settings.logs} if settings.logs else {})
    with Indexing(settings.database_url, ",".join(settings.rpc_urls), **options) as indexing:
        indexing.wait_for(head)


class BackfillProcess(IndexerProcess):
    """`scan backfill chain` as operators run it, but for small partitions; what it left goes on
    after kill()."""

    def __init__(self, database_url, rpc_url, folder, last_block, *, workers=1, range_blocks=16):
        super().__init__(
            database_url,
            rpc_url,
            SCAN_DATA_DIR=str(folder),
            SCAN_PARTITION_ROWS=str(PROCESS_PARTITION_ROWS),
        )
        self.command = (
            sys.executable,
            "-c",
            PROGRAM,
            f"--folder={folder}/files",
            f"--workers={workers}",
            f"--range-blocks={range_blocks}",
            f"--last-block={last_block}",
            "--memory=1",  # whatever the machine has free
        )

    def exit_code(self):
        """None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def wait(self):
        assert self._process is not None
        return self._process.wait(PATIENCE_S)

    def wait_until(self, is_it):
        deadline = time.monotonic() + PATIENCE_S
        while not is_it():
            assert time.monotonic() < deadline, self.tail()
            assert self.exit_code() is None, self.tail()
            time.sleep(0.005)


def fill(database_url, rpc_url):
    done = scan("backfill", "traces", DATABASE_URL=database_url, RPC_URL=rpc_url)
    assert done.returncode == 0, done.stderr


def opened(database_url):
    return Database(database_url, statement_timeout_ms=0, session=audit.SESSION)
