"""The work of a cluster's worker: it writes the files of a range to the shared storage.

It reads the node at RPC_URL of its own environment, or else the nodes of the main process.
"""

import functools
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from distributed import get_worker

from scan.ethereum.client import HistoryPruned, Node
from scan.ethereum.served_chain import ChainIdentity
from scan.extensions.backfill.range_files import RangeFiles
from scan.extensions.backfill.range_store import RangeStore
from scan.extensions.backfill.spool import RangeTask, SpoolFailed, spool_range
from scan.indexer.block_source import BlockSource
from scan.indexer.chain_identity import read_identity
from scan.settings import Settings


class ClusterTask(NamedTuple):
    """A range for a worker of a cluster."""

    range_task: RangeTask
    files: str  # the path or URI where the archive is to be written
    version: str  # of Scan: all machines must decode alike
    chain: ChainIdentity


class StoredRange(NamedTuple):
    """The archive that a worker has written, or the problem because of which it has not."""

    worker: str
    transactions: int = 0
    digest: str = ""
    problem: str = ""
    permanent: HistoryPruned | None = None


def store_range(task: ClusterTask) -> StoredRange:
    """Fetch a range in a worker, and write its archive."""
    worker = get_worker()
    try:
        with TemporaryDirectory(dir=worker.local_directory) as folder:
            return _store(task, RangeFiles(Path(folder)), worker.address)
    except HistoryPruned as error:
        return StoredRange(worker.address, permanent=error)
    except Exception as error:
        return StoredRange(worker.address, problem=str(error) or repr(error))


def _store(task: ClusterTask, files: RangeFiles, worker: str) -> StoredRange:
    if task.version != version("scan"):
        raise SpoolFailed(f"it has Scan {version('scan')}, the main process {task.version}")
    settings = Settings.from_environment()
    range_task = task.range_task._replace(
        rpc_urls=settings.rpc_urls or task.range_task.rpc_urls, ca_bundle=settings.ca_bundle
    )
    if range_task.history is not None:
        history = range_task.history.on_another_machine(files.folder / "history")
        range_task = range_task._replace(history=history)
    if _chain(range_task.rpc_urls, range_task.ca_bundle) != task.chain:
        raise SpoolFailed("its node serves another chain")
    transactions = spool_range(range_task, files.folder)
    digest = RangeStore(task.files).put(files, range_task.blocks)
    return StoredRange(worker, transactions, digest)


@functools.cache
def _chain(rpc_urls: tuple[str, ...], ca_bundle: str) -> ChainIdentity:
    """Return the chain of a node, which is read once. Raises NodeError."""
    return read_identity(BlockSource(Node(rpc_urls, ca_bundle=ca_bundle)))
