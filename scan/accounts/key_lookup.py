"""From the text of a key to the key, for every request: one path, cached for a moment."""

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


class _Found(NamedTuple):
    key: ApiKey | None
    until: float


class ApiKeyLookup:
    """Active keys by the hash of their text."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._found: OrderedDict[bytes, _Found] = OrderedDict()
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
            found = _Found(self._look_up(hashed, asked_at), asked_at + CACHED_S)
            self._store(hashed, found)
        return found.key

    def find_cached(self, text: str) -> ApiKey | None:
        """As find(), of a key found a moment ago; None for all others. Never waits."""
        hashed = key_hash(text)
        found = None if hashed is None else self._found.get(hashed)
        return found.key if found is not None and found.until > self._clock() else None

    def clear_cache(self) -> None:
        """After a key was revoked here: this process asks again at once."""
        with self._lock:
            self._found.clear()

    def _look_up(self, hashed: bytes, asked_at: float) -> ApiKey | None:
        if asked_at < self._paused_until:
            raise Unavailable("The API key cannot be checked now; try again shortly.")
        try:
            row = self._database.row("accounts/api_keys_find", key_hash=hashed)
        except Unavailable:
            self._paused_until = self._clock() + PAUSE_AFTER_FAILURE_S
            raise
        return ApiKey(row[0], bytes(row[1]), row[2]) if row else None

    def _store(self, hashed: bytes, found: _Found) -> None:
        with self._lock:
            self._found[hashed] = found
            self._found.move_to_end(hashed)
            if len(self._found) > MOST_CACHED:
                self._found.popitem(last=False)
