"""Reads of blocks that several clients behind the newest one share.

After a restart many clients resume at nearby positions, and advance in turns.
"""

import time
from collections.abc import Collection

from scan.database.connection import Database
from scan.ethereum.sized_cache import SizedCache
from scan.extensions.streams import block_events
from scan.extensions.streams.block_events import Events, OrphanedEvents, Position

CACHE_BYTES = 32 * 1024 * 1024
# A block's events do not change, but those that a fork removed are known for a limited time.
MAX_AGE_S = 60.0
# In memory: a record takes about four times its text, which is kept too, and the event itself.
RECORD_TIMES, EVENT_BYTES = 5, 500


class SharedReads:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: SizedCache[tuple[Events, float]] = SizedCache(CACHE_BYTES)
        self._fork_version = 0  # of the index when the newest removal was read
        self.orphaned = OrphanedEvents(database)

    def read_next(self, position: Position, types: Collection[str], known_version: int) -> Events:
        """Return the same as block_events.read_next(), perhaps from memory, but nothing that was
        read of an older index: a reader that has come back to the parent of a removed block would
        be sent that block again, and its removal, in a circle."""
        key = (position, types)
        cached = self._read.get(key)
        if cached is not None:
            events, read_at = cached
            oldest = max(known_version, self._fork_version)
            if events.version >= oldest and time.monotonic() - read_at < MAX_AGE_S:
                return events
        events = block_events.read_next(
            self._database, position, types, self.orphaned, known_version
        )
        if events.position != position and not (events.is_newest or events.is_ahead):
            self._read.store(key, (events, time.monotonic()), _bytes(events))
        self.note_fork(position, events)
        return events

    def note_fork(self, position: Position, events: Events) -> None:
        """Note what was read at a position: after a removal nothing that was read before is sent,
        as its block may have been removed as well."""
        if events.position < position:
            self._fork_version = max(self._fork_version, events.version)


def _bytes(events: Events) -> int:
    return EVENT_BYTES + sum(EVENT_BYTES + RECORD_TIMES * len(e.json) for e in events.events)
