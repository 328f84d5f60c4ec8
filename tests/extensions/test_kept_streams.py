"""Streams where old rows are removed."""

from contextlib import closing

import pytest

from scan.database.connection import Database
from scan.errors import PositionLost
from scan.extensions.retention.tests.test_kept_days import followed, forty_days
from scan.extensions.streams.block_events import TYPES, OrphanedEvents, Position, read_next

__all__ = ["followed", "forty_days"]


def test_streams_begin_at_the_first_kept_block(followed):
    with closing(Database(followed.settings.database_url, statement_timeout_ms=0)) as database:
        orphaned = OrphanedEvents(database)
        positions = [
            Position(number, database.value("indexer/blocks_get_hash", number=number), 0)
            for number in (followed.first - 1, followed.first)
        ]
        with pytest.raises(PositionLost):
            read_next(database, positions[0], TYPES, orphaned)
        events = read_next(database, positions[1], TYPES, orphaned).events
        assert [event.type for event in events][:3] == ["heads", "transactions", "transactions"]
