"""Attempts at a step of a backfill: repeated after errors of node and database, which are logged
once."""

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from scan.errors import ScanError
from scan.ethereum.retries import RETRIED, Retries
from scan.extensions.backfill.progress import Progress

log = logging.getLogger(__name__)

PATIENCE_S = 600.0  # with a node or database that fails while the backfill does not advance

_T = TypeVar("_T")


class Attempts:
    """The attempts of one backfill, which `stop` ends."""

    def __init__(self, progress: Progress, stop: threading.Event) -> None:
        self._progress = progress
        self._stop = stop
        self._retries = Retries(PATIENCE_S)
        self._logged = ("", 0.0)  # the kind of the last error, and the share that was done then

    def run(self, step: Callable[[], _T]) -> _T:
        """Return the result of a step. Repeat it after errors of node and database, until it has
        failed for PATIENCE_S without any progress in between, or `stop` is set."""
        while True:
            try:
                result = step()
            except RETRIED as error:
                self._wait_after(error)
            else:
                self._retries.succeeded()
                return result

    def _wait_after(self, error: Exception) -> None:
        """Wait as long as the error demands, and log it unless it was logged since the last
        progress. Raise it where the backfill ends."""
        pause_s = self._retries.pause_s(error, self._progress.share)
        kind = "database" if isinstance(error, ScanError) else str(error)
        if (kind, self._progress.share) != self._logged:
            self._logged = kind, self._progress.share
            log.warning("%s; trying again for %.0f minutes", error, PATIENCE_S / 60)
        self._progress.problem = str(error)
        if self._stop.wait(pause_s):
            raise error
