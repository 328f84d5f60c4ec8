"""A thread that works beside serving, which `threads()` of an extension's worker.py returns."""

import logging
import threading
from collections.abc import Callable

from scan.database.connection import Database
from scan.errors import ScanError

log = logging.getLogger(__name__)

STOP_S = 2.0  # for the end of a step, such as a mail


class WorkerThread:
    """A thread that takes steps until stop(). `step` returns whether the next follows at once,
    rather than after `pause_s`, as it does after an error. `failure` begins the log's line. `wake`
    ends the wait of a step that waits itself."""

    def __init__(
        self,
        name: str,
        step: Callable[[], bool],
        pause_s: float,
        database: Database,
        failure: str,
        wake: Callable[[], None] | None = None,
    ) -> None:
        self._step = step
        self._pause_s = pause_s
        self._database = database
        self._failure = failure
        self._wake = wake
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._wake is not None:
            self._wake()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._step():
                    continue
            except (ScanError, OSError) as error:
                log.warning("%s: %s", self._failure, error)
            except Exception:
                log.exception(self._failure)
            self._stop.wait(self._pause_s)
        self._database.close()
