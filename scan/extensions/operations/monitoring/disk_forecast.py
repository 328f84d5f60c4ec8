"""The database's disk: its free space, and how long that will last."""

import shutil
from pathlib import Path
from typing import NamedTuple

from scan.database.connection import Database

DAY_S = 86_400


class Disk(NamedTuple):
    free_bytes: int
    full_in_s: int | None  # at the growth of the chain's newest day; None if there was none


def folder(database: Database) -> Path | None:
    """Return the database's data folder; None if it is on another machine, or hidden from us."""
    text = database.value("queries/disk_get_folder")
    try:
        return Path(text) if text and Path(text).is_dir() else None
    except OSError:  # a folder above it is closed to this user
        return None


def forecast(database: Database) -> Disk | None:
    """Return the disk's forecast; None where the data folder is not known."""
    data = folder(database)
    if data is None:
        return None
    free_bytes = shutil.disk_usage(data).free
    row = database.row("queries/disk_get_usage")
    assert row is not None
    size_bytes, newest_s = row
    daily_bytes = size_bytes * _newest_days_share(database, newest_s)
    return Disk(free_bytes, int(free_bytes / daily_bytes * DAY_S) if daily_bytes else None)


def _newest_days_share(database: Database, newest_s: int | None) -> float:
    """Return the newest day's share of all rows; 0 where the chain is younger than a day."""
    if newest_s is None:
        return 0.0
    row = database.row("queries/blocks_get_by_time", time_s=newest_s - DAY_S)
    if row is None or row[1] is None:
        return 0.0
    total, of_the_day = database.row("queries/disk_get_growth", day_block=row[1]) or (0, 0)
    return float(of_the_day / total) if total else 0.0
