"""Request counts and last use of API keys: counted in memory, written in batches."""

import logging
import threading
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import Unavailable

log = logging.getLogger(__name__)

# The docs promise that totalRequests is exact to the second.
FLUSH_EVERY_S = 0.5


class _Use(NamedTuple):
    requests: int
    last_used_at: float  # Unix seconds


class KeyUsage:
    """The counts of this process. Its thread starts with the first count, and so after a fork."""

    def __init__(self, database: Database, flush_every_s: float = FLUSH_EVERY_S) -> None:
        self._database = database
        self._flush_every_s = flush_every_s
        self._uses: dict[int, _Use] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def count(self, key_id: int, now: float) -> None:
        with self._lock:
            self._add(key_id, _Use(1, now))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="key-usage", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Write the counts, which are kept if that fails. Raises Unavailable."""
        with self._flushing:
            with self._lock:
                uses, self._uses = self._uses, {}
            if not uses:
                return
            try:
                # A transaction is never repeated, as rows() may be.
                with self._database.transaction() as transaction:
                    transaction.execute(
                        "accounts/api_keys_count_uses",
                        ids=list(uses),
                        requests=[use.requests for use in uses.values()],
                        used_at=[use.last_used_at for use in uses.values()],
                    )
            except BaseException:
                with self._lock:
                    for key_id, use in uses.items():
                        self._add(key_id, use)
                raise

    def close(self) -> None:
        """Stop the thread and write the remaining counts."""
        self._closed.set()
        try:
            self.flush()
        except Unavailable as error:
            log.error("usage counts of API keys were lost at shutdown: %s", error)

    def _add(self, key_id: int, use: _Use) -> None:
        before = self._uses.get(key_id, _Use(0, 0.0))
        self._uses[key_id] = _Use(
            before.requests + use.requests, max(before.last_used_at, use.last_used_at)
        )

    def _run(self) -> None:
        is_failing = False  # told once, not twice a second for as long as the database is gone
        while not self._closed.wait(self._flush_every_s):
            try:
                self.flush()
                is_failing = False
            except Unavailable as error:
                if not is_failing:
                    log.warning("cannot write usage counts of API keys, retrying: %s", error)
                is_failing = True
            except Exception:
                log.exception("cannot write usage counts of API keys")
