"""What verification does beside serving: it compares creations, and forgets stored bytes."""

import logging
import threading
import time

from scan.database.connection import Database
from scan.errors import ScanError
from scan.verification.sandbox import NETWORK_IS_KEPT, can_deny_network
from scan.verification.verifier import Verifier

log = logging.getLogger(__name__)

POLL_S = 1.0
SWEEP_EVERY_S = 60.0


class BackgroundWork:
    """A thread that works until stop()."""

    def __init__(self, database: Database, verifier: Verifier) -> None:
        self._database = database
        self._verifier = verifier
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="verification", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopping = True
        self._thread.join()

    def _run(self) -> None:
        """Work until stop(). Errors are logged; what failed is done again after a pause."""
        if not can_deny_network():
            log.warning("%s", NETWORK_IS_KEPT)
        sweep_at = 0.0
        while not self._is_stopping:
            try:
                self._verifier.equal_creations.compare_next(POLL_S)
                if time.monotonic() >= sweep_at:
                    sweep_at = time.monotonic() + SWEEP_EVERY_S
                    self._verifier.stored_bytes.sweep()
            except ScanError as error:
                log.warning("creations are not compared: %s", error)
                time.sleep(POLL_S)
            except Exception:
                log.exception("creations are not compared")
                time.sleep(POLL_S)
        self._database.close()
