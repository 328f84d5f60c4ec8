"""A cache of immutable values in bounded memory, which evicts the least recently used."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_V = TypeVar("_V")


class SizedCache(Generic[_V]):
    """A thread-safe cache; the caller estimates the size of a value in bytes."""

    def __init__(self, most_bytes: int, *, least_entries: int = 16) -> None:
        """Values that would leave no room for `least_entries` of their size are not stored."""
        self._most_bytes = most_bytes
        self._most_entry_bytes = most_bytes // least_entries
        self._bytes = 0
        self._entries: OrderedDict[Hashable, tuple[_V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> _V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def store(self, key: Hashable, value: _V, size: int) -> None:
        if size > self._most_entry_bytes:
            return
        with self._lock:
            _, old_size = self._entries.pop(key, (None, 0))
            self._entries[key] = (value, size)
            self._bytes += size - old_size
            while self._bytes > self._most_bytes:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._bytes -= dropped
