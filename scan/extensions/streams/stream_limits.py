"""The open streams, and their limits by client, by address and in all."""

import resource
import threading
from collections import Counter
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from scan.errors import RateLimited, Unavailable
from scan.observability import metrics

MAX_STREAMS = 2000
MAX_STREAMS_PER_CLIENT = 10  # a client is an API key, or an address
MAX_STREAMS_PER_ADDRESS = 100  # with all keys, as connections in deploy/nginx.conf


class OfClient(Protocol):
    client: Hashable
    address: Hashable


_S = TypeVar("_S", bound=OfClient)


class OpenStreams(Generic[_S]):
    def __init__(self) -> None:
        self._streams: dict[_S, None] = {}
        self._by_client: Counter[Hashable] = Counter()
        self._by_address: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    def add(self, stream: _S) -> None:
        """Add a stream; raises RateLimited where its client has too many, else Unavailable."""
        with self._lock:
            _check(self._by_client[stream.client], MAX_STREAMS_PER_CLIENT)
            _check(self._by_address[stream.address], MAX_STREAMS_PER_ADDRESS)
            if len(self._streams) >= _most_open():
                raise Unavailable("Too many streams are open; try again shortly.", retry_after_s=5)
            self._streams[stream] = None
            self._by_client[stream.client] += 1
            self._by_address[stream.address] += 1
            metrics.STREAMS.set(len(self._streams))

    def remove(self, stream: _S) -> None:
        """Remove a stream; removing it again has no effect."""
        with self._lock:
            if stream not in self._streams:
                return
            del self._streams[stream]
            _take_one(self._by_client, stream.client)
            _take_one(self._by_address, stream.address)
            metrics.STREAMS.set(len(self._streams))

    def listed(self) -> list[_S]:
        with self._lock:
            return list(self._streams)


def _check(count: int, most: int) -> None:
    if count >= most:
        raise RateLimited(
            f"{most} streams are open, the maximum; close one first.", headers={"Retry-After": "5"}
        )


def _take_one(counts: Counter[Hashable], key: Hashable) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _most_open() -> int:
    """Return the limit of all streams: each takes a file descriptor (see gunicorn.conf.py)."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_STREAMS if files == resource.RLIM_INFINITY else min(MAX_STREAMS, files // 4)
