"""Answers about the chain, kept in memory until the indexer announces a change."""

import threading
from typing import Any

from scan.db import Database, Row

CHANNEL = "scan_chain"
# Pages follow an index whatever the planner knows of the tables: a plan made while they were
# empty must serve when they are not.
SESSION = "-c enable_seqscan=off -c enable_bitmapscan=off"
MAX_KEPT_CHARACTERS = 64 * 1024 * 1024

_Key = tuple[object, ...]


class ChainReader:
    """Rows of statements that only the indexer's writes can change.

    A row is kept under the version it was read at. Each thread's connection hears of a commit as
    PostgreSQL tells it, so nothing is served from before a change that its client could know of.
    """

    def __init__(self, database: Database, *, is_replica: bool = False) -> None:
        self._database = database
        self._is_replica = is_replica  # a standby neither passes on announcements nor is current
        self._lock = threading.Lock()
        # One attribute, so that no thread sees a new version with the rows of an old one.
        self._kept: tuple[str | None, dict[_Key, Row | None]] = (None, {})
        self._size = 0

    def row(self, statement: str, *, is_prepared: bool = True, **params: object) -> Row | None:
        """As Database.prepared_row; with `is_prepared` false as Database.row."""
        read = self._database.prepared_row if is_prepared else self._database.row
        version = None if self._is_replica else self._database.announced("chain_version")
        if version is None:
            return read(statement, **params)
        key = (statement, *params.values())
        kept_version, kept = self._kept
        if version == kept_version and key in kept:
            return kept[key]
        row = read(statement, **params)
        self._keep(version, key, row)
        return row

    def value(self, statement: str, **params: object) -> Any:
        """The first column of row()."""
        row = self.row(statement, is_prepared=True, **params)
        return None if row is None else row[0]

    def _keep(self, version: str, key: _Key, row: Row | None) -> None:
        size = 200 + sum(len(value) for value in row or () if isinstance(value, str))
        with self._lock:
            if version != self._kept[0] or self._size + size > MAX_KEPT_CHARACTERS:
                self._kept, self._size = (version, {}), 0
            self._kept[1][key] = row
            self._size += size
