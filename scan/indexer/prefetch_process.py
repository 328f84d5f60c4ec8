"""The fetching of many blocks at once: how many requests are in flight, how many blocks each has,
and the processes that make them, as decoding a node's JSON keeps a processor busy.

They are spawned multiprocessing.Processes with a Pipe for each request in flight.
ProcessPoolExecutor is not used: its parent holds both ends of the pipe of results, so a worker that
is killed while it sends one leaves the parent waiting for the rest, even at its exit (seen with
CPython 3.11).
"""

import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

from scan.contracts.account_state import node_of_index
from scan.errors import Unavailable
from scan.ethereum import client, node_errors
from scan.indexer.block_rows import NO_LOGS, LogSelection
from scan.indexer.block_source import BlockSource, FetchedRows
from scan.observability import logs, metrics
from scan.settings import Settings

FETCH_BLOCKS = 20  # in one request, at most
# The transactions that one request aims at. Larger answers outgrow the processor's caches: fetching
# and decoding took 39.6 us of processor a transaction with 3,000 in one request, 30.9 with 750,
# 39.9 with 450 (least of eight rounds on a busy machine).
FETCH_TRANSACTIONS = 750
FETCHES_AHEAD = 40  # requests ahead of the writer: more than a batch needs
CHARACTERS_AHEAD = 64 * 1024 * 1024  # of fetched logs, beyond which no blocks are requested
FIRST_CONCURRENCY = 3
MAX_CONCURRENCY = 6  # each request may hold an answer of MAX_ANSWER_BYTES
# One decodes half of what PostgreSQL writes meanwhile: with two, `scan index` is 1.07 times as fast
# on two processors.
PROCESSES = 2
PATIENCE_S = 4.0  # with refusals of one request; then the catch-up fails, which is reported

_T = TypeVar("_T")


class FetchLimit:
    """The bound on requests in flight. It grows while the writer waits for answers, and halves when
    the node refuses a request.

    It grows by one after about as many answers as are in flight, as TCP's congestion window does.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._changed = threading.Condition()
        self._concurrency = float(FIRST_CONCURRENCY)
        self._in_flight = 0
        self._halved_at = 0.0
        self._resume_at = 0.0
        self._mean_transactions = 0.0

    @property
    def concurrency(self) -> int:
        return int(self._concurrency)

    @property
    def blocks(self) -> int:
        """The number of blocks to request at once."""
        fitting = FETCH_TRANSACTIONS / max(self._mean_transactions, 1.0)
        return max(1, min(FETCH_BLOCKS, round(fitting)))

    def record_answer(self, blocks: int, transactions: int, *, was_waited_for: bool) -> None:
        self._mean_transactions += (transactions / blocks - self._mean_transactions) / 4
        if was_waited_for:
            with self._changed:
                grown = self._concurrency + 1 / self._concurrency
                self._concurrency = min(grown, float(MAX_CONCURRENCY))
                self._changed.notify_all()

    def run(self, request: Callable[[], _T]) -> _T:
        """Send the request when the bound allows it, and return its result. Send it again where the
        node's rate limit refuses it, for PATIENCE_S. Raises RateLimited."""
        retries = node_errors.Retries(PATIENCE_S)
        while True:
            began = self._begin()
            try:
                return request()
            except client.RateLimited as refusal:
                now = time.monotonic()
                with self._changed:
                    # Several refusals of requests that were in flight together count as one.
                    if began > self._halved_at:
                        self._concurrency = max(1.0, self._concurrency / 2)
                        self._halved_at = now
                    self._resume_at = max(self._resume_at, now + retries.pause_s(refusal))
                if self._stop.is_set():
                    raise
            finally:
                with self._changed:
                    self._in_flight -= 1
                    self._changed.notify_all()

    def _begin(self) -> float:
        """Wait until another request may be sent, or indexing stops, and return the time."""
        with self._changed:
            while not self._stop.is_set():
                pause_s = self._resume_at - time.monotonic()
                if pause_s <= 0 and self._in_flight < self.concurrency:
                    break
                self._changed.wait(min(pause_s, 0.2) if pause_s > 0 else 0.2)
            self._in_flight += 1
        return time.monotonic()


log = logging.getLogger(__name__)

MIN_PROCESS_BLOCKS = 200  # fewer are fetched before a process has started
START_S = 15.0
END_S = 5.0
# JSON becomes tens of thousands of objects without cycles: looking for cycles after every 700
# objects, the default, adds a third to the time of parsing.
OBJECTS_BETWEEN_COLLECTIONS = 200_000
# A thread gives up the interpreter's lock for each signature and takes it again. Where others may
# claim it after 5 ms, the default, a transaction takes 8 us of processor more.
SWITCH_S = 0.1


def prefer_throughput() -> None:
    """Let this process decode more, and react later."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    sys.setswitchinterval(SWITCH_S)


class ProcessNotStarted(Exception):
    """No process to fetch blocks can be started on this machine."""


class ProcessEnded(Unavailable):
    """A process has ended while it fetched blocks."""


class FetchResult(NamedTuple):
    """The blocks of a range, or an error, and observations of the RPC requests for the metrics."""

    rows: FetchedRows | Exception
    rpc_observations: list[metrics.RpcObservation]


class FetchProcesses:
    """Processes from the construction, which may raise ProcessNotStarted, to close()."""

    def __init__(self, settings: Settings, limit: FetchLimit) -> None:
        self._limit = limit
        self._connections: SimpleQueue[tuple[Connection, SpawnProcess]] = SimpleQueue()
        self._reaping = threading.Lock()  # two threads that wait at once do not both get the code
        self._processes: list[SpawnProcess] = []
        try:
            starting = [self._start(settings) for _ in range(PROCESSES)]
            for ours, process in starting:
                self._connect(ours, process)
        except ProcessNotStarted:
            self._kill()
            raise
        self._threads = ThreadPoolExecutor(MAX_CONCURRENCY, "fetch")

    @property
    def pids(self) -> list[int | None]:
        return [process.pid for process in self._processes]

    @property
    def are_alive(self) -> bool:
        with self._reaping:
            return all(process.is_alive() for process in self._processes)

    def submit(
        self, first: int, last: int, selection: LogSelection = NO_LOGS
    ) -> "Future[FetchedRows]":
        """Fetch the blocks first..last. The future raises the errors of BlockSource.blocks(), or
        ProcessEnded."""
        return self._threads.submit(self._limit.run, lambda: self._fetch(first, last, selection))

    def close(self) -> None:
        """Kill the processes, which have no state to clean up."""
        self._kill()
        self._threads.shutdown(cancel_futures=True)

    def _kill(self) -> None:
        with self._reaping:
            for process in self._processes:
                process.kill()
            for process in self._processes:
                process.join()

    def _start(self, settings: Settings) -> tuple[tuple[Connection, ...], SpawnProcess]:
        """Return a process with its connections. Raises ProcessNotStarted."""
        context = multiprocessing.get_context("spawn")
        pipes = [context.Pipe() for _ in range(MAX_CONCURRENCY // PROCESSES)]
        ours, theirs = zip(*pipes, strict=True)
        process = context.Process(target=_serve, args=(settings, theirs), daemon=True)
        # The process inherits the blocked signal: its parent handles a terminal's Ctrl-C.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        except OSError as error:
            raise ProcessNotStarted(str(error)) from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._processes.append(process)
        for connection in theirs:  # while one is open here, the process's end is not noticed
            connection.close()
        return ours, process

    def _connect(self, ours: tuple[Connection, ...], process: SpawnProcess) -> None:
        """Wait until a process is ready. Raises ProcessNotStarted."""
        try:
            if not ours[0].poll(START_S):
                process.kill()
            ours[0].recv()
        except (EOFError, OSError):
            raise ProcessNotStarted(f"it ended with {self._exit_code(process)}") from None
        for connection in ours:
            self._connections.put((connection, process))

    def _fetch(self, first: int, last: int, selection: LogSelection) -> FetchedRows:
        connection, process = self._connections.get()
        try:
            connection.send((first, last, selection))
            result: FetchResult = connection.recv()
        except (EOFError, OSError):
            ended = f"a process that fetches blocks ended with {self._exit_code(process)}"
            raise ProcessEnded(ended) from None
        finally:
            self._connections.put((connection, process))
        for observation in result.rpc_observations:
            metrics.count_rpc(observation)
        if isinstance(result.rows, Exception):
            raise result.rows
        return result.rows

    def _exit_code(self, process: SpawnProcess) -> int | None:
        with self._reaping:
            process.join(END_S)
            return process.exitcode


class ProcessesForLongRanges:
    """Starts processes for the first range that is worth them, and keeps them for the next."""

    def __init__(self, settings: Settings, limit: FetchLimit) -> None:
        self._settings = settings
        self._limit = limit
        self._processes: FetchProcesses | None = None
        self._may_start = len(os.sched_getaffinity(0)) > 1

    def for_range(self, blocks: int) -> FetchProcesses | None:
        """Return the processes; None where the blocks are too few, or none can start."""
        if blocks < MIN_PROCESS_BLOCKS or not self._may_start:
            return None
        if self._processes is not None and not self._processes.are_alive:
            self.close()
        if self._processes is None:
            try:
                self._processes = FetchProcesses(self._settings, self._limit)
            except ProcessNotStarted as error:
                log.warning("no process to fetch blocks, which is slower: %s", error)
                self._may_start = False
        return self._processes

    def close(self) -> None:
        """End the processes, if there are any."""
        processes, self._processes = self._processes, None
        if processes is not None:
            processes.close()


# In a process that fetches


def _serve(settings: Settings, connections: tuple[Connection, ...]) -> None:
    """Serve requests until the parent ends in any way."""
    logs.configure(settings)
    metrics.keep_observations()
    prefer_throughput()
    node = node_of_index(settings)
    source = BlockSource(node, traces=settings.traces, stores_bodies=settings.stores_bodies)
    try:
        connections[0].send(None)
    except OSError:  # the parent ended while this process started
        os._exit(0)
    for connection in connections:
        threading.Thread(target=_serve_connection, args=(connection, source), daemon=True).start()
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)  # at once, although threads may be waiting


def _serve_connection(connection: Connection, source: BlockSource) -> None:
    try:
        while True:
            first, last, selection = connection.recv()
            connection.send(_result(source, first, last, selection))
    except (EOFError, OSError):
        os._exit(0)
    except BaseException:
        log.exception("unexpected")
        os._exit(1)


def _result(source: BlockSource, first: int, last: int, selection: LogSelection) -> FetchResult:
    rows: FetchedRows | Exception
    try:
        rows = source.rows(first, last, selection)
    except Exception as error:
        rows = error
        if not isinstance(error, node_errors.NODE_FAILURES):  # pickling loses the traceback
            error.add_note("".join(traceback.format_exception(error)))
    return FetchResult(rows, metrics.take_observations())
