"""In what order streams that are behind read on: the addresses of their clients take turns.

Ten streams of one address, each with its own turn, delayed a newcomer to 4.4 s.
"""

import threading
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

_S = TypeVar("_S")


class FairQueue(Generic[_S]):
    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[_S]] = {}  # by address, whose turn is next first
        self._lock = threading.Lock()

    def add(self, address: Hashable, stream: _S) -> None:
        with self._lock:
            self._waiting.setdefault(address, deque()).append(stream)

    def next(self) -> _S:
        """Remove the stream whose turn it is, and put its address last; one must be waiting."""
        with self._lock:
            address = next(iter(self._waiting))
            streams = self._waiting.pop(address)
            stream = streams.popleft()
            if streams:
                self._waiting[address] = streams
            return stream
