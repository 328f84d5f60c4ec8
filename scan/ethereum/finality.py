"""Which blocks the node calls safe and finalized, read once for each newest block."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, data, quantity

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

    def at(
        self, node: NodeSession, newest_block: int, newest_hash: Callable[[], bytes | None]
    ) -> Finality:
        """Return the finality while `newest_block` is the newest indexed block. Where the node is
        further, it tells by that block's hash whether it has finalized the same chain."""
        cached = self._cache.get(newest_block)
        if cached is not None:
            return cached
        if self.is_paused:
            return Finality()
        calls = [Call("eth_getBlockByNumber", (tag, False)) for tag in TAGS]
        own = Call("eth_getBlockByNumber", (hex(newest_block), False))
        try:
            results = node.within(TIMEOUT_S).results(calls, MOST_BYTES)
            numbers = [_number(block) for block in results]
            if any(number is not None and number > newest_block for number in numbers):
                [block] = node.within(TIMEOUT_S).results([own], MOST_BYTES)
                if data(block["hash"], 32) != newest_hash():
                    return Finality()
        except Unavailable:
            return Finality()
        except UpstreamFailed:
            self._paused_until = time.monotonic() + PAUSE_S
            return Finality()
        except (TypeError, KeyError, BadHex):
            node.record_failed()
            return Finality()
        read = Finality(*(None if n is None else min(n, newest_block) for n in numbers))
        if not any(isinstance(result, RpcError) and result.is_transient for result in results):
            self._cache.store(newest_block, read, ENTRY_BYTES)
        return read


def _number(block: Any) -> int | None:
    """Return a block's number; None where the node has no such block."""
    return None if block is None or isinstance(block, RpcError) else quantity(block["number"])
