"""What runs beside serving: one comparison after another."""

import logging
import threading
import time
from collections.abc import Iterable

from scan.errors import ScanError
from scan.extensions.equal_creations.contract_comparison import EqualCreations
from scan.http.services import Services

log = logging.getLogger(__name__)

POLL_S = 1.0


def threads(core: Services) -> Iterable["ComparisonThread"]:
    return (ComparisonThread(core.sources.get(EqualCreations)),)


class ComparisonThread:
    """A thread that compares until stop()."""

    def __init__(self, comparisons: EqualCreations) -> None:
        self._comparisons = comparisons
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="creations", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopping = True
        self._thread.join()

    def _run(self) -> None:
        """Compare until stop(). Errors are logged; what failed is requested again later."""
        while not self._is_stopping:
            try:
                self._comparisons.compare_next(POLL_S)
            except ScanError as error:
                log.warning("creations are not compared: %s", error)
                time.sleep(POLL_S)
            except Exception:
                log.exception("creations are not compared")
                time.sleep(POLL_S)
