"""Processes of this machine that write the files of ranges: pools of pebble, which replaces a
process that was killed."""

import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from pathlib import Path
from typing import NamedTuple

from pebble import ProcessExpired, ProcessPool

from scan.ethereum.client import NodeError, RpcError
from scan.extensions.backfill import range_files, spool
from scan.extensions.backfill.range_scheduler import Pool, WorkerLost
from scan.extensions.backfill.resources import Resources
from scan.indexer.block_source import BlockSource
from scan.indexer.chain_identity import read_identity


class _Submitted(NamedTuple):
    blocks: range_files.Range
    folder: Path
    pool: ProcessPool


class WorkerPool:
    """A pool of processes, with one more process for slow ranges, whose processes may be frozen."""

    def __init__(
        self,
        processes: int,
        files: range_files.RangeFiles,
        work: Callable[[spool.RangeTask, Path], int] = spool.spool_range,
    ) -> None:
        self._processes = processes
        self._files = files
        self._work = work
        self._incoming = files.folder / range_files.INCOMING
        shutil.rmtree(self._incoming, ignore_errors=True)  # of a run that was killed
        self._numbers = count()
        self._written: dict[Future[int], _Submitted] = {}
        self._pools = [_start(processes)]

    def slots(self) -> int:
        for number, pool in enumerate(self._pools):
            if not pool.active:  # pebble gives a pool up when a worker ends before it has a task
                self._pools[number] = self._replacement(pool, 1 if number else self._processes)
        return self._processes

    def submit(self, task: spool.RangeTask, copies: Collection[Future[int]]) -> Future[int]:
        if copies and len(self._pools) == 1:
            self._pools.append(_start(1))
        folder = self._incoming / str(next(self._numbers))
        pool = self._pools[-1 if copies else 0]
        try:
            future: Future[int] = pool.schedule(self._work, args=[task, folder])
        except RuntimeError:  # the pool was given up in this moment
            future = Future()
            future.set_exception(BrokenProcessPool())
        self._written[future] = _Submitted(task.blocks, folder, pool)
        return future

    def result(self, future: Future[int]) -> int:
        blocks, folder, _ = self._written.pop(future)
        try:
            transactions = future.result()
            self._files.move_from(range_files.RangeFiles(folder), blocks)
            return transactions
        except ProcessExpired as error:
            raise WorkerLost(f"ended with exit code {error.exitcode}") from None
        except BrokenProcessPool:
            raise WorkerLost("ended as it started") from None
        except (NodeError, RpcError, spool.SpoolFailed):
            raise
        except Exception as error:
            raise spool.SpoolFailed(str(error) or repr(error)) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def cancel(self, future: Future[int]) -> None:
        future.cancel()  # this ends its process
        del self._written[future]

    def close(self) -> None:
        for pool in self._pools:
            _end(pool)
        shutil.rmtree(self._incoming, ignore_errors=True)

    def _replacement(self, pool: ProcessPool, processes: int) -> ProcessPool:
        """Return a new pool for one that was given up, some of whose ranges would wait for ever."""
        _end(pool)
        for future, submitted in self._written.items():
            if submitted.pool is pool and not future.done():
                future.set_exception(BrokenProcessPool())
        return _start(processes)


def start_pool(resources: Resources, source: BlockSource, files: range_files.RangeFiles) -> Pool:
    """Start processes on this machine, or connect to a cluster. Raises SpoolFailed, NodeError."""
    if resources.cluster is None:
        return WorkerPool(resources.processes, files)
    from scan.extensions.backfill.cluster import ClusterPool  # which needs the extra `cluster`

    return ClusterPool(resources.cluster, read_identity(source.node), files)


def _start(processes: int) -> ProcessPool:
    context = multiprocessing.get_context("spawn")
    return ProcessPool(processes, context=context, initializer=_begin)


def _end(pool: ProcessPool) -> None:
    pool.stop()
    pool.join()


def _begin() -> None:
    """Initialise a worker: it ends with the main process, while pebble would leave it running."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
