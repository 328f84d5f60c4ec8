"""What verifications of the last day have stored, in all and of each client, in this process."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable

from scan.errors import RateLimited, Unavailable

DAY_S = 24 * 60 * 60.0
CLIENT_SHARE = 10  # a client may store a tenth of what all may
RETRY_AFTER_S = 3600


class StoredBytes:
    def __init__(self, most_bytes: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes = most_bytes
        self._now = now
        self._stored: deque[tuple[float, str | None, int]] = deque()  # oldest first
        self._of_client: Counter[str | None] = Counter()
        self._of_all = 0
        self._lock = threading.Lock()

    def check(self, client: str | None) -> None:
        """Raise RateLimited or Unavailable where no more may be stored; before a compiler runs."""
        with self._lock:
            while self._stored and self._now() - self._stored[0][0] >= DAY_S:
                _, owner, size = self._stored.popleft()
                self._count(owner, -size)
            if client is not None and self._of_client[client] >= self._most_bytes // CLIENT_SHARE:
                raise RateLimited(
                    "Your verifications of the last 24 hours have stored as much as they may.",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            if self._of_all >= self._most_bytes:
                raise Unavailable(
                    "Verifications have stored as much as they may within 24 hours.",
                    retry_after_s=RETRY_AFTER_S,
                )

    def add(self, client: str | None, size: int) -> None:
        with self._lock:
            self._stored.append((self._now(), client, size))
            self._count(client, size)

    def _count(self, client: str | None, size: int) -> None:
        self._of_all += size
        self._of_client[client] += size
        if not self._of_client[client]:
            del self._of_client[client]
