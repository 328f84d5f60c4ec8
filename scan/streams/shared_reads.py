"""Clients that are behind read a block once, where several of them come to it.

After a restart many clients resume at nearby positions, and advance in turns.
"""

import time
from collections.abc import Collection

from scan.database.connection import Database
from scan.ethereum.sized_cache import SizedCache
from scan.queries import block_events
from scan.queries.block_events import Events, OrphanedEvents, Position

CACHE_BYTES = 32 * 1024 * 1024
# A block's events do not change, but what a fork took is known for a limited time.
MAX_AGE_S = 60.0
# A record takes about four times its text; the event besides.
RECORD_TIMES, EVENT_BYTES = 5, 500


class SharedReads:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: SizedCache[tuple[Events, float]] = SizedCache(CACHE_BYTES)
        self.orphaned = OrphanedEvents(database)

    def read_next(self, position: Position, types: Collection[str]) -> Events:
        """As block_events.read_next(). Where a fork has taken the block by now, what it had comes
        nevertheless, and its removal after that."""
        key = (position, types)
        cached = self._read.get(key)
        if cached is not None and time.monotonic() - cached[1] < MAX_AGE_S:
            return cached[0]
        events = block_events.read_next(self._database, position, types, self.orphaned)
        if events.position != position and not (events.is_newest or events.is_ahead):
            self._read.store(key, (events, time.monotonic()), _bytes(events))
        return events


def _bytes(events: Events) -> int:
    return EVENT_BYTES + sum(EVENT_BYTES + RECORD_TIMES * len(e.json) for e in events.events)
