"""Tasks for processes of this machine; the task of one that was killed is given to another."""

import logging
import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, NamedTuple, TypeVar

log = logging.getLogger(__name__)

MAX_DEATHS = 20  # that one task may cause
END_S = 10.0  # for a worker that has nothing to do any more

Task = TypeVar("Task")
Result = TypeVar("Result")


class TaskFailed(Exception):
    """A task raised an error, with its message, or killed every process that it was given to."""


class _Worker(NamedTuple):
    process: SpawnProcess
    connection: Any  # a Connection, whose type is of its messages


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
                for connection in wait(list(running)):
                    worker, task = running.pop(connection)
                    try:
                        is_done, result = worker.connection.recv()
                    except (EOFError, OSError):
                        deaths[task] += 1
                        _end(worker)
                        if deaths[task] == MAX_DEATHS:
                            raise TaskFailed(f"{task} ends its process") from None
                        log.warning("the process with %s was killed; another one takes it", task)
                        remaining.appendleft(task)
                        continue
                    idle.append(worker)
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


def _end(worker: _Worker) -> None:
    """It ends by itself after its task, as its connection is closed."""
    worker.connection.close()
    worker.process.join(END_S)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
    worker.process.close()


def _serve(work: Callable[[Any], Any], connection: Any) -> None:
    """In a worker: task after task, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal: the other side decides
    with suppress(EOFError, OSError):
        while True:
            task = connection.recv()
            try:
                result = True, work(task)
            except Exception as error:
                result = False, str(error) or repr(error)
            connection.send(result)
