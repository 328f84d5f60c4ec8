"""Ranges of blocks given to a pool of workers, to another one where the first is lost or slow; and
processes of this machine that write their files: pools of pebble, which replaces a process that was
killed.
"""

import logging
import multiprocessing
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pebble import ProcessExpired, ProcessPool

from scan.contracts.account_state import stored_identity
from scan.ethereum.client import NodeError, RpcError
from scan.extensions.backfill.plan import Range, RangeFailed, SpoolFailed
from scan.extensions.backfill.range_files import INCOMING, RangeFiles
from scan.extensions.backfill.resources import Resources
from scan.extensions.backfill.spool import RangeTask, begin_worker, spool_range
from scan.indexer.block_rows import LogSelection
from scan.settings import Settings

if TYPE_CHECKING:  # most runs read no files of history
    from scan.extensions.backfill.history_source import ChainFiles

log = logging.getLogger(__name__)

MAX_LOSSES = 20  # of workers with the same range
MAX_FAILURES = 4  # of a range, each at another worker
# A range that takes SLOW times the median of others is slow: its worker may be frozen.
SLOW, LEAST_SLOW_S, FIRST_SLOW_S = 4.0, 30.0, 120.0
REMEMBERED = 100  # ranges for the median
COPIES = 4  # one in so many ranges may be given to a second worker
POLL_S = 0.2


class WorkerLost(Exception):
    """A worker ended before the files of its range were written; the message says how."""


class Pool(Protocol):
    """Workers that write the files of ranges."""

    def slots(self) -> int:
        """Return how many ranges may be in work now. Raises SpoolFailed."""

    def submit(self, task: RangeTask, copies: Collection[Future[int]]) -> Future[int]:
        """Give a range to a worker that has none of its `copies`."""

    def result(self, future: Future[int]) -> int:
        """Return how many transactions a completed range has. Raises WorkerLost, RangeFailed, and
        errors that no other worker mends: those of RETRIED, and SpoolFailed."""

    def cancel(self, future: Future[int]) -> None:
        """Cancel a copy of a range that another worker has completed."""

    def close(self) -> None:
        """End all work of the pool."""


@dataclass
class _Work:
    """A range in work, with a future for each copy of it."""

    task: RangeTask
    began_s: float
    futures: set[Future[int]] = field(default_factory=set)
    losses: int = 0
    failures: int = 0


class SpoolBounds(NamedTuple):
    """When a range is given to another worker, or up."""

    losses: int = MAX_LOSSES
    least_slow_s: float = LEAST_SLOW_S
    first_slow_s: float = FIRST_SLOW_S


BOUNDS = SpoolBounds()


def spool(
    pool: Pool, tasks: Sequence[RangeTask], bounds: SpoolBounds = BOUNDS
) -> Generator[int, None, None]:
    """Yield how many transactions each range has, in the order of completion. Raises SpoolFailed
    and, of RETRIED, the error of a worker that has tried for a while.

    The pool is closed when the caller stops reading.
    """
    waiting = deque(tasks)
    in_work: dict[Range, _Work] = {}
    durations_s: deque[float] = deque(maxlen=REMEMBERED)
    try:
        while waiting or in_work:
            slots = pool.slots()
            while waiting and len(in_work) < slots:
                work = _Work(waiting.popleft(), time.monotonic())
                work.futures.add(pool.submit(work.task, ()))
                in_work[work.task.blocks] = work
            slow_s = bounds.first_slow_s
            if durations_s:
                slow_s = max(SLOW * median(durations_s), bounds.least_slow_s)
            _copy_slow(pool, in_work.values(), slow_s, max(slots // COPIES, 1))
            by_future = {future: work for work in in_work.values() for future in work.futures}
            done, _ = wait(by_future, POLL_S, FIRST_COMPLETED)
            for future in done:
                work = by_future[future]
                if in_work.get(work.task.blocks) is not work:
                    continue  # another copy of the range was completed in the same moment
                work.futures.remove(future)
                transactions = _result(pool, work, future, bounds.losses)
                if transactions is None:
                    continue
                durations_s.append(time.monotonic() - work.began_s)
                del in_work[work.task.blocks]
                for copy in work.futures:
                    pool.cancel(copy)
                yield transactions
    finally:
        pool.close()


def _copy_slow(pool: Pool, in_work: Collection[_Work], slow_s: float, most: int) -> None:
    """Give ranges that take longer than `slow_s` to a second worker."""
    copied = sum(len(work.futures) > 1 for work in in_work)
    for work in in_work:
        elapsed_s = time.monotonic() - work.began_s
        if copied < most and len(work.futures) == 1 and elapsed_s > slow_s:
            log.warning("%s take long (%.0f s); a second worker takes them", work.task, elapsed_s)
            work.futures.add(pool.submit(work.task, work.futures))
            copied += 1


def _result(pool: Pool, work: _Work, future: Future[int], most_losses: int) -> int | None:
    """Return how many transactions a range has; None where this copy of it failed, and another
    worker has it. Raises what spool() does."""
    try:
        return pool.result(future)
    except WorkerLost as error:
        work.losses += 1
        if work.losses == most_losses:
            raise SpoolFailed(f"{work.task}: {error}") from None
        log.warning("the worker with %s %s; another one takes them", work.task, error)
    except RangeFailed as error:
        work.failures += 1
        if work.failures == MAX_FAILURES:
            raise
        log.warning("%s; another worker takes them", error)
    if not work.futures:
        work.began_s = time.monotonic()
        work.futures.add(pool.submit(work.task, ()))
    return None


def make_tasks(
    settings: Settings,
    resources: Resources,
    selection: LogSelection,
    ranges: Sequence[Range],
    history: "ChainFiles | None" = None,
) -> list[RangeTask]:
    """Return a task for each range. The tasks begin with the nodes in turn."""
    urls = settings.rpc_urls
    chain = stored_identity(settings.database_url)
    return [
        RangeTask(
            rpc_urls=urls[number % len(urls) :] + urls[: number % len(urls)],
            ca_bundle=settings.ca_bundle,
            traces=settings.traces,
            selection=selection,
            blocks=blocks,
            history=None if history is None else history.range_history(blocks),
            chain=chain,
            computes_senders=resources.computes_senders,
            stores_bodies=settings.stores_bodies,
        )
        for number, blocks in enumerate(ranges)
    ]


@contextmanager
def spooling(
    make_pool: Callable[[], Pool],
    tasks: Sequence[RangeTask],
    advance: Callable[[int], object],
    stop: threading.Event,
) -> Iterator[Future[None]]:
    """Write the files of ranges in a thread, until all are written or `stop` is set. Yield the
    thread's future.

    The end of the `with` block waits for the thread and raises its error; an error in the block
    ends the thread. `advance` is called with the transactions of each range that was added.
    """
    ending = threading.Event()

    def run() -> None:
        with closing(spool(make_pool(), tasks)) as results:
            for transactions in results:
                advance(transactions)
                if ending.is_set():
                    return

    with ThreadPoolExecutor(1, "spool") as pool:
        end = pool.submit(run)
        try:
            yield end
            while not wait([end], POLL_S).done:
                if stop.is_set():
                    ending.set()
            end.result()
        finally:
            ending.set()


class _Submitted(NamedTuple):
    blocks: Range
    folder: Path
    pool: ProcessPool


class WorkerPool:
    """A pool of processes, with one more process for slow ranges, whose processes may be frozen."""

    def __init__(
        self,
        processes: int,
        files: RangeFiles,
        work: Callable[[RangeTask, Path], int] = spool_range,
    ) -> None:
        self._processes = processes
        self._files = files
        self._work = work
        self._incoming = files.folder / INCOMING
        shutil.rmtree(self._incoming, ignore_errors=True)  # of a run that was killed
        self._numbers = count()
        self._written: dict[Future[int], _Submitted] = {}
        self._pools = [_start(processes)]

    def slots(self) -> int:
        for index, pool in enumerate(self._pools):
            if not pool.active:  # pebble gives a pool up when a worker ends before it has a task
                _end(pool)
                for future, submitted in self._written.items():
                    if submitted.pool is pool and not future.done():  # it would wait for ever
                        future.set_exception(BrokenProcessPool())
                self._pools[index] = _start(1 if index else self._processes)
        return self._processes

    def submit(self, task: RangeTask, copies: Collection[Future[int]]) -> Future[int]:
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
            self._files.move_from(RangeFiles(folder), blocks)
            return transactions
        except ProcessExpired as error:
            raise WorkerLost(f"ended with exit code {error.exitcode}") from None
        except BrokenProcessPool:
            raise WorkerLost("ended as it started") from None
        except (NodeError, RpcError, SpoolFailed):
            raise
        except Exception as error:
            raise SpoolFailed(str(error) or repr(error)) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def cancel(self, future: Future[int]) -> None:
        future.cancel()  # this ends its process
        del self._written[future]

    def close(self) -> None:
        for pool in self._pools:
            _end(pool)
        shutil.rmtree(self._incoming, ignore_errors=True)


def start_pool(resources: Resources, files: RangeFiles) -> Pool:
    """Start processes on this machine, or connect to a cluster. Raises SpoolFailed."""
    if resources.cluster is None:
        return WorkerPool(resources.processes, files)
    from scan.extensions.backfill.cluster import ClusterPool  # which needs the extra `cluster`

    return ClusterPool(resources.cluster, files)


def _start(processes: int) -> ProcessPool:
    # Each is forked from a process that has the imports, which take half a second of processor.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([spool_range.__module__])
    return ProcessPool(processes, context=context, initializer=begin_worker)


def _end(pool: ProcessPool) -> None:
    pool.stop()
    pool.join()
