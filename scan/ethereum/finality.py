"""Which blocks the node calls safe and finalized, read once for each newest block."""

import time
from typing import Any, NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, quantity

TIMEOUT_S = 0.5
PAUSE_S = 10.0  # after a node that did not answer in time: others do not wait for it
MOST_BYTES = 4 * 1024 * 1024
CACHE_BYTES = 16 * 1024
ENTRY_BYTES = 400
TAGS = ("safe", "finalized")


class Finality(NamedTuple):
    """The numbers of the newest safe and finalized blocks; None where the chain has none, or the
    node does not answer."""

    safe: int | None = None
    finalized: int | None = None


class FinalityReader:
    def __init__(self) -> None:
        self._cache: SizedCache[Finality] = SizedCache(CACHE_BYTES)
        self._paused_until = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the node did not answer just now, and is not asked."""
        return time.monotonic() < self._paused_until

    def at(self, node: NodeSession, newest_block: int) -> Finality:
        """Return the finality while `newest_block` is the newest indexed block."""
        cached = self._cache.get(newest_block)
        if cached is not None:
            return cached
        if self.is_paused:
            return Finality()
        calls = [Call("eth_getBlockByNumber", (tag, False)) for tag in TAGS]
        try:
            results = node.within(TIMEOUT_S).results(calls, MOST_BYTES)
        except Unavailable:
            return Finality()
        except UpstreamFailed:
            self._paused_until = time.monotonic() + PAUSE_S
            return Finality()
        try:
            read = Finality(*(_number(block, newest_block) for block in results))
        except (TypeError, KeyError, BadHex):
            node.record_failed()
            return Finality()
        if not any(isinstance(result, RpcError) and result.is_transient for result in results):
            self._cache.store(newest_block, read, ENTRY_BYTES)
        return read


def _number(block: Any, most: int) -> int | None:
    """Return a block's number, at most `most`: the node may have blocks that are not indexed yet.
    None where the node has no such block."""
    if block is None or isinstance(block, RpcError):
        return None
    return min(quantity(block["number"]), most)
