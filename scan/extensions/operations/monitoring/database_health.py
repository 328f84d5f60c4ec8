"""What stops a PostgreSQL server in the end, for `scan doctor` and /metrics alike."""

from typing import NamedTuple

from scan.database.connection import Database

MOST_FREEZE_AGES = 2  # autovacuum freezes at one


class DatabaseHealth(NamedTuple):
    """The row of queries/database_get_health."""

    transaction_id_age: int
    freeze_age: int
    is_archiving_failing: int
    wal_archive_age_s: float | None  # None where no WAL is archived
    inactive_slot_bytes: int


def read_health(database: Database) -> DatabaseHealth:
    row = database.row("queries/database_get_health")
    assert row is not None
    return DatabaseHealth(*row)
