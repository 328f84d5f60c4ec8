"""The lookup of API keys by their text, for every request, with a short-lived cache."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from scan.accounts.api_keys import ApiKey, key_hash
from scan.database.connection import Database
from scan.errors import Unavailable

# A key revoked in another process stops working here within this time; the docs promise 5 s.
CACHED_S = 3.0
# Unknown keys are cached too, so that a client with a wrong key does not cause a query a request.
MAX_CACHED = 10_000
# While the database is unavailable, one lookup in this time waits for it; the others do not.
PAUSE_AFTER_FAILURE_S = 1.0


class CachedKey(NamedTuple):
    key: ApiKey | None  # None for a key that is malformed, unknown or inactive
    until: float


class ApiKeyLookup:
    """The lookup of active keys by the hash of their text. While `database` is unavailable, keys
    are read from its replica, if there is one."""

    def __init__(
        self,
        database: Database,
        replica: Database | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._replica = replica
        self._clock = clock
        self._cache: OrderedDict[bytes, CachedKey] = OrderedDict()
        self._lock = Lock()
        self._paused_until = 0.0

    def find(self, text: str) -> ApiKey | None:
        """Return the active key; None if it is malformed, unknown or inactive.
        Raises Unavailable."""
        hashed = key_hash(text)
        if hashed is None:
            return None
        now = self._clock()
        cached = self._cache.get(hashed)
        if cached is None or cached.until <= now:
            cached = CachedKey(self._look_up(hashed, now), now + CACHED_S)
            with self._lock:
                self._cache[hashed] = cached
                self._cache.move_to_end(hashed)
                if len(self._cache) > MAX_CACHED:
                    self._cache.popitem(last=False)
        return cached.key

    def find_cached(self, text: str) -> CachedKey | None:
        """Return the result of find() if it is known without a query, else None. Never wait."""
        hashed = key_hash(text)
        if hashed is None:
            return CachedKey(None, math.inf)
        cached = self._cache.get(hashed)
        return cached if cached is not None and cached.until > self._clock() else None

    def clear_cache(self) -> None:
        """Forget keys after one was revoked in this process, so that it stops working at once."""
        with self._lock:
            self._cache.clear()

    def _look_up(self, hashed: bytes, now: float) -> ApiKey | None:
        try:
            if now < self._paused_until:
                raise Unavailable("The API key cannot be checked now; try again shortly.")
            return _read_key(self._database, hashed)
        except Unavailable:
            # Lookups that failed without waiting do not prolong the pause.
            if now >= self._paused_until:
                self._paused_until = self._clock() + PAUSE_AFTER_FAILURE_S
            if self._replica is None:
                raise
            return _read_key(self._replica, hashed)


def _read_key(database: Database, hashed: bytes) -> ApiKey | None:
    row = database.row("accounts/api_keys_find", key_hash=hashed)
    return ApiKey(row[0], bytes(row[1]), row[2]) if row else None
