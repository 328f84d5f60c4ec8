"""Processes that fetch blocks, as decoding a node's JSON keeps a processor busy.

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
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import NamedTuple

from scan.contracts.account_state import node_of_index
from scan.errors import Unavailable
from scan.ethereum import node_errors
from scan.indexer.block_rows import NO_LOGS, LogSelection
from scan.indexer.block_source import BlockSource, FetchedRows
from scan.observability import logs, metrics
from scan.settings import Settings

MAX_CONCURRENCY = 6  # each request may hold an answer of MAX_ANSWER_BYTES
# One decodes half of what PostgreSQL writes meanwhile: with two, `scan index` is 1.07 times as fast
# on two processors.
PROCESSES = 2
START_S = 15.0
END_S = 5.0
# JSON becomes tens of thousands of objects without cycles: looking for cycles after every 700
# objects, the default, adds a third to the time of parsing.
OBJECTS_BETWEEN_COLLECTIONS = 200_000
# A thread gives up the interpreter's lock for each signature and takes it again. Where others may
# claim it after 5 ms, the default, a transaction takes 8 us of processor more.
SWITCH_S = 0.1

log = logging.getLogger(__name__)

Request = Callable[[], FetchedRows]


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

    def __init__(self, settings: Settings, run: Callable[[Request], FetchedRows]) -> None:
        """`run` makes a request when it may be made, and returns what it returns."""
        self._run = run
        self._connections: SimpleQueue[tuple[Connection, SpawnProcess]] = SimpleQueue()
        self._reaping = threading.Lock()  # two threads that wait at once do not both get the code
        self._processes: list[SpawnProcess] = []
        try:
            starting = [self._start(settings) for _ in range(PROCESSES)]
            for ours, process in starting:
                self._connect(ours, process)
        except BaseException:
            self._kill()
            raise
        self._threads = ThreadPoolExecutor(MAX_CONCURRENCY, "fetch")

    @property
    def are_alive(self) -> bool:
        with self._reaping:
            return all(process.is_alive() for process in self._processes)

    def submit(
        self, first: int, last: int, selection: LogSelection = NO_LOGS
    ) -> "Future[FetchedRows]":
        """Fetch the blocks first..last. The future raises the errors of BlockSource.blocks(), or
        ProcessEnded."""
        return self._threads.submit(self._run, lambda: self._fetch(first, last, selection))

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
        # The process inherits the blocked signal: its parent handles a terminal's Ctrl-C.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pipes = [context.Pipe() for _ in range(MAX_CONCURRENCY // PROCESSES)]
            ours, theirs = zip(*pipes, strict=True)
            process = context.Process(target=_serve, args=(settings, theirs), daemon=True)
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
