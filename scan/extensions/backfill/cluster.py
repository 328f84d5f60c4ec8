"""Workers of a backfill on several machines, by a scheduler of dask.distributed, to which only this
module connects.

A worker writes the files of a range to the shared storage. It reads the node at RPC_URL of its own
environment, or else the nodes of the main process.
"""

import functools
import logging
import os
import time
from collections import defaultdict
from collections.abc import Collection
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from distributed import Client, KilledWorker, Security, get_worker

from scan.ethereum.client import HistoryPruned, Node
from scan.ethereum.served_chain import ChainIdentity
from scan.extensions.backfill import plan, range_files, resources, spool
from scan.files import write_private
from scan.indexer.chain_identity import read_identity
from scan.settings import Settings


class ClusterTask(NamedTuple):
    """A range for a worker of a cluster."""

    range_task: spool.RangeTask
    files: str  # the path or URI of the storage
    name: str  # of the backfill's folder there, for the archive
    version: str  # of Scan: all machines must decode alike


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
            return _range_store(task, range_files.RangeFiles(Path(folder)), worker.address)
    except HistoryPruned as error:
        return StoredRange(worker.address, permanent=error)
    except Exception as error:
        return StoredRange(worker.address, problem=str(error) or repr(error))


def _range_store(task: ClusterTask, files: range_files.RangeFiles, worker: str) -> StoredRange:
    if task.version != version("scan"):
        raise plan.SpoolFailed(f"it has Scan {version('scan')}, the main process {task.version}")
    settings = Settings.from_environment()
    urls = settings.rpc_urls or task.range_task.rpc_urls
    range_task = task.range_task._replace(rpc_urls=urls, ca_bundle=settings.ca_bundle)
    if range_task.history is not None:
        # Another machine has its own folder for downloads.
        history = range_task.history._replace(downloads=str(files.folder / "history"))
        range_task = range_task._replace(history=history)
    if _chain(range_task.rpc_urls, range_task.ca_bundle) != range_task.chain:
        raise plan.SpoolFailed("its node serves another chain")
    transactions = spool.spool_range(range_task, files.folder)
    digest = range_files.RangeStore(task.files, task.name).put(files, range_task.blocks)
    return StoredRange(worker, transactions, digest)


@functools.cache
def _chain(rpc_urls: tuple[str, ...], ca_bundle: str) -> ChainIdentity:
    """Return the chain of a node, which is read once. Raises NodeError."""
    return read_identity(Node(rpc_urls, ca_bundle=ca_bundle))


log = logging.getLogger(__name__)

CONNECT_S = 30.0
WORKERS_S = 1.0  # for which the list of workers is not asked for again
WITHOUT_WORKERS_S = 600.0
RANGES_AHEAD = 2  # of each thread, since the main process receives one range at a time
MAX_RANGES = 500


class _Submitted(NamedTuple):
    range_task: spool.RangeTask
    remote: Any  # distributed's future


class ClusterPool:
    """A pool of the workers that a scheduler has at the time."""

    def __init__(
        self,
        cluster: resources.Cluster,
        files: range_files.RangeFiles,
        connect_s: float = CONNECT_S,
    ) -> None:
        self._cluster = cluster
        self._files = files
        self._numbers = count()
        self._submitted: dict[Future[Any], _Submitted] = {}
        self._failed: defaultdict[plan.Range, set[str]] = defaultdict(set)  # workers
        self._workers: dict[str, int] = {}  # threads by address
        self._workers_at = self._without_since = float("-inf")
        name_file = files.folder / "storage"
        if not name_file.exists():
            files.folder.mkdir(parents=True, exist_ok=True)
            write_private(name_file, os.urandom(8).hex())
        self._name = name_file.read_text()  # the same for a run after a kill
        self._store = range_files.RangeStore(cluster.files, self._name)
        self._store.make()
        self._client = _connect(cluster, connect_s)
        self._receiving = ThreadPoolExecutor(MAX_RANGES, "cluster")

    def slots(self) -> int:
        self._require_scheduler()
        now = time.monotonic()
        if now - self._workers_at > WORKERS_S:
            self._workers, self._workers_at = dict(self._ask("nthreads")), now
        if self._workers or self._without_since == float("-inf"):
            self._without_since = now
        elif now - self._without_since > WITHOUT_WORKERS_S:
            raise plan.SpoolFailed(f"{self._cluster.address} has no workers")
        return min(RANGES_AHEAD * sum(self._workers.values()), MAX_RANGES)

    def submit(self, task: spool.RangeTask, copies: Collection[Future[Any]]) -> Future[Any]:
        # Workers that neither have the range nor have failed at it; None for any worker.
        excluded = set(self._failed.get(task.blocks, ()))
        if copies:
            keys = {self._submitted[copy].remote.key for copy in copies}
            processing = self._ask("processing")
            excluded |= {worker for worker, its in processing.items() if keys & set(its)}
        others = (sorted(set(self._workers) - excluded) or None) if excluded else None
        remote = self._ask(
            "submit",
            store_range,
            ClusterTask(task, self._cluster.files, self._name, version("scan")),
            key=f"blocks-{task.blocks.first}-{task.blocks.last}-{next(self._numbers)}",
            pure=False,
            workers=others,
            allow_other_workers=others is not None,
        )
        # In a thread, since a worker may be frozen between its work and its answer.
        future: Future[Any] = self._receiving.submit(remote.result)
        self._submitted[future] = _Submitted(task, remote)
        return future

    def result(self, future: Future[Any]) -> int:
        task, _ = self._submitted.pop(future)
        try:
            stored: StoredRange = future.result()
        except KilledWorker:
            raise plan.RangeFailed(f"{task}: every worker that had them was lost") from None
        except CancelledError:
            raise self._scheduler_lost() from None
        except Exception as error:  # such as that of a worker without Scan
            self._require_scheduler()
            raise plan.RangeFailed(f"{task}: {error!r}") from None
        if stored.permanent is not None:
            raise stored.permanent
        try:
            if stored.problem:
                raise range_files.StoreFailed(stored.problem)
            folder = self._files.folder / range_files.INCOMING
            self._store.take(self._files, task.blocks, stored.digest, folder)
        except range_files.StoreFailed as error:
            self._failed[task.blocks].add(stored.worker)
            raise plan.RangeFailed(f"{task}: {error} (worker {stored.worker})") from None
        self._failed.pop(task.blocks, None)
        return stored.transactions

    def cancel(self, future: Future[Any]) -> None:
        self._ask("cancel", [self._submitted.pop(future).remote])

    def close(self) -> None:
        self._client.close()  # without it, the scheduler cancels its tasks
        self._receiving.shutdown(wait=False, cancel_futures=True)
        self._store.remove()

    def _ask(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the client. Raises SpoolFailed for any error: the client has no class
        for the loss of its scheduler."""
        try:
            return getattr(self._client, method)(*args, **kwargs)
        except Exception:
            log.debug("a request to the scheduler failed", exc_info=True)
            raise self._scheduler_lost() from None

    def _require_scheduler(self) -> None:
        """Raise SpoolFailed where the connection to the scheduler was lost, and with it all work in
        progress, even if it is made anew."""
        if self._client.status != "running":
            raise self._scheduler_lost()

    def _scheduler_lost(self) -> plan.SpoolFailed:
        return plan.SpoolFailed(f"the scheduler at {self._cluster.address} was lost")


def _connect(cluster: resources.Cluster, connect_s: float) -> Client:
    security = Security()
    if cluster.key:
        security = Security(
            require_encryption=True,
            tls_ca_file=cluster.ca,
            tls_client_cert=cluster.certificate,
            tls_client_key=cluster.key,
        )
    with suppress(OSError, RuntimeError):
        return Client(cluster.address, security=security, timeout=connect_s, set_as_default=False)
    raise plan.SpoolFailed(f"no scheduler answers at {cluster.address} by these certificates")
