"""Tasks for processes of this machine; the task of one that was killed, or is frozen, is given to
another."""

import logging
import multiprocessing
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar

log = logging.getLogger(__name__)

MAX_DEATHS = 20  # that one task may cause
END_S = 10.0  # for a worker that has nothing to do any more
BEAT_S = 1.0  # how often a worker says that it is not frozen, whatever its task waits for
SILENT_S = 30.0  # after which it is
START_S = 120.0  # until it first does

Task = TypeVar("Task")
Result = TypeVar("Result")


class TaskFailed(Exception):
    """A task raised an error, with its message, or killed every process that it was given to."""


class _Lost(Exception):
    """A worker is not to be heard any more; the message says why."""


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Any  # a Connection, whose type is of its messages
    has_started: bool = False
    silent_s: float = 0.0


class WorkerPool(Generic[Task, Result]):
    """`work` and its tasks are pickled, so `work` is a function of a module."""

    def __init__(self, work: Callable[[Task], Result], processes: int) -> None:
        self._work = work
        self._processes = processes
        self._context = multiprocessing.get_context("spawn")

    def results(self, tasks: Sequence[Task]) -> Generator[Result, None, None]:
        """As they come; raises TaskFailed. Ends its processes when the caller reads no further."""
        remaining = deque(tasks)
        deaths: Counter[Task] = Counter()
        running: dict[Any, tuple[_Worker, Task]] = {}
        idle: list[_Worker] = []
        try:
            while remaining or running:
                while remaining and len(running) < self._processes:
                    worker = idle.pop() if idle else self._start()
                    running[worker.connection] = worker, remaining[0]
                    with suppress(OSError):  # it died: reading will tell
                        worker.connection.send(remaining[0])
                    remaining.popleft()
                began_s = time.monotonic()
                ready = wait(list(running), BEAT_S)
                # Not what passed while this process was frozen itself.
                waited_s = min(time.monotonic() - began_s, BEAT_S)
                for connection, (worker, task) in list(running.items()):
                    try:
                        message = _heard(worker, connection in ready, waited_s)
                    except _Lost as error:
                        del running[connection]
                        deaths[task] += 1
                        _kill(worker)
                        if deaths[task] == MAX_DEATHS:
                            raise TaskFailed(f"{task} ends its process") from None
                        log.warning("the process with %s %s; another one takes it", task, error)
                        remaining.appendleft(task)
                        continue
                    if message is None:
                        continue
                    idle.append(running.pop(connection)[0])
                    is_done, result = message
                    if not is_done:
                        raise TaskFailed(result)
                    yield result
        finally:
            for worker in [*idle, *(worker for worker, _ in running.values())]:
                _end(worker)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(self._work, theirs), daemon=True)
        process.start()
        theirs.close()  # so that reading ours ends with the process
        return _Worker(process, ours)


def _heard(worker: _Worker, is_ready: bool, waited_s: float) -> Any:
    """Whether its task is done, and with which result; None if it only lives. Raises _Lost."""
    if is_ready:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            raise _Lost("was killed") from None
        worker.has_started, worker.silent_s = True, 0.0
        return message
    worker.silent_s += waited_s
    if worker.silent_s >= (SILENT_S if worker.has_started else START_S):
        raise _Lost(f"is frozen ({worker.silent_s:.0f} s) and ended: {worker.process.pid}")
    return None


def _end(worker: _Worker) -> None:
    """It ends by itself after its task, as its connection is closed."""
    worker.connection.close()
    worker.process.join(END_S)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
    worker.process.close()


def _kill(worker: _Worker) -> None:
    worker.process.kill()
    _end(worker)


def _serve(work: Callable[[Any], Any], connection: Any) -> None:
    """In a worker: task after task, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal: the other side decides
    sending = threading.Lock()
    with suppress(EOFError, OSError):
        connection.send(None)
        threading.Thread(target=_beat, args=(connection, sending), daemon=True).start()
        while True:
            task = connection.recv()
            try:
                result = True, work(task)
            except Exception as error:
                result = False, str(error) or repr(error)
            with sending:
                connection.send(result)


def _beat(connection: Any, sending: threading.Lock) -> None:
    with suppress(OSError):
        while True:
            time.sleep(BEAT_S)
            with sending:
                connection.send(None)
