"""From the text of a key to the key, for every request: one path, cached for a moment."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from scan.accounts.api_keys import ApiKey, key_hash
from scan.database.connection import Database
from scan.errors import Unavailable

# A key revoked in another process stops here within this time; 5 s are promised.
CACHED_S = 3.0
# Unknown keys are remembered too, so that one bad client does not become a query per request.
MOST_CACHED = 10_000
# While the database is away, one lookup in this time waits for it and the others do not.
PAUSE_AFTER_FAILURE_S = 1.0


class FoundKey(NamedTuple):
    key: ApiKey | None  # None for a key that is malformed, unknown or inactive
    until: float


class ApiKeyLookup:
    """Active keys by the hash of their text.

    While `database` is away they are looked up on its replica, where there is one.
    """

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
        self._found: OrderedDict[bytes, FoundKey] = OrderedDict()
        self._lock = Lock()
        self._paused_until = 0.0

    def find(self, text: str) -> ApiKey | None:
        """None for a key that is malformed, unknown or inactive; raises Unavailable."""
        hashed = key_hash(text)
        if hashed is None:
            return None
        asked_at = self._clock()
        found = self._found.get(hashed)
        if found is None or found.until <= asked_at:
            found = FoundKey(self._look_up(hashed, asked_at), asked_at + CACHED_S)
            self._store(hashed, found)
        return found.key

    def find_cached(self, text: str) -> FoundKey | None:
        """What find() would return, or None where that takes a look-up. Never waits."""
        hashed = key_hash(text)
        if hashed is None:
            return FoundKey(None, math.inf)
        found = self._found.get(hashed)
        return found if found is not None and found.until > self._clock() else None

    def clear_cache(self) -> None:
        """After a key was revoked here: this process asks again at once."""
        with self._lock:
            self._found.clear()

    def _look_up(self, hashed: bytes, asked_at: float) -> ApiKey | None:
        try:
            if asked_at < self._paused_until:
                raise Unavailable("The API key cannot be checked now; try again shortly.")
            return _read(self._database, hashed)
        except Unavailable:
            if asked_at >= self._paused_until:
                self._paused_until = self._clock() + PAUSE_AFTER_FAILURE_S
            if self._replica is None:
                raise
            return _read(self._replica, hashed)

    def _store(self, hashed: bytes, found: FoundKey) -> None:
        with self._lock:
            self._found[hashed] = found
            self._found.move_to_end(hashed)
            if len(self._found) > MOST_CACHED:
                self._found.popitem(last=False)


def _read(database: Database, hashed: bytes) -> ApiKey | None:
    row = database.row("accounts/api_keys_find", key_hash=hashed)
    return ApiKey(row[0], bytes(row[1]), row[2]) if row else None
