"""Whole responses in memory, each until the index changes that it was made from."""

import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from scan.http.index_version import IndexVersion
from scan.http.request_state import CacheKey
from scan.server.wsgi_responses import WsgiResponse

MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRY_BYTES = 2 * 1024 * 1024
MAX_TIMED = 64
ENTRY_BYTES = 600  # of an entry without its texts, measured


class _OfVersion(NamedTuple):
    """Responses that were read from one version of the index."""

    version: int
    rewinds: int
    responses: OrderedDict[CacheKey, WsgiResponse]  # the oldest first


class _Timed(NamedTuple):
    response: WsgiResponse
    until: float  # time.monotonic()


class ResponseCache:
    """Responses by key. Most are served while no newer version of the index is known than the one
    they were read from; some others are served for a time."""

    def __init__(self, index_version: IndexVersion) -> None:
        self._index_version = index_version
        self._lock = threading.Lock()
        # One attribute, so that no thread sees a new version with the responses of an old one.
        self._current = _OfVersion(-1, 0, OrderedDict())
        self._timed: dict[CacheKey, _Timed] = {}
        self._bytes = 0

    def find(self, key: CacheKey) -> WsgiResponse | None:
        """Return the cached response if it is current. Never waits."""
        version, rewinds, responses = self._current
        response = responses.get(key)
        if response is not None:
            is_newest = self._index_version.newest() == version
            return response if is_newest and self._index_version.rewinds == rewinds else None
        timed = self._timed.get(key)
        return timed.response if timed is not None and time.monotonic() < timed.until else None

    def store(self, key: CacheKey, response: WsgiResponse, version: int) -> None:
        if not self._index_version.may_be_newest(version):
            return
        size = _size(key, response)
        if size > MAX_ENTRY_BYTES:  # a few of these would drop all others
            return
        with self._lock:
            rewinds = self._index_version.rewinds
            is_same = (version, rewinds) == (self._current.version, self._current.rewinds)
            if version < self._current.version and rewinds == self._current.rewinds:
                return
            if not is_same:
                self._current, self._bytes = _OfVersion(version, rewinds, OrderedDict()), 0
            responses = self._current.responses
            if key in responses:  # two threads have made it
                return
            while self._bytes + size > MAX_BYTES:
                self._bytes -= _size(*responses.popitem(last=False))
            responses[key] = response
            self._bytes += size

    def replace(self, key: CacheKey, response: WsgiResponse, other: WsgiResponse) -> None:
        """Replace a response, which find() returned, by one with its compressed form."""
        with self._lock:
            timed, responses = self._timed.get(key), self._current.responses
            if timed is not None and timed.response is response:
                self._timed[key] = timed._replace(response=other)
            elif responses.get(key) is response:
                self._bytes += _size(key, other) - _size(key, response)
                responses[key] = other

    def store_for(self, key: CacheKey, response: WsgiResponse, seconds: float) -> None:
        """Store a response for a time; at most MAX_TIMED of these are kept."""
        if len(self._timed) >= MAX_TIMED:
            self._timed.clear()
        self._timed[key] = _Timed(response, time.monotonic() + seconds)


def _size(key: CacheKey, response: WsgiResponse) -> int:
    gzipped = response.gzipped.body if response.gzipped else b""
    return ENTRY_BYTES + sum(map(len, key)) + len(response.body) + len(gzipped)
