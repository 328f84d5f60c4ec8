"""Answers about the chain, kept in memory until the indexer announces a change."""

import threading
import time
from contextlib import suppress
from typing import NamedTuple

from scan.database.connection import Announcements, Database, News
from scan.errors import Unavailable

CHANNEL = "scan_chain"
MOST_KEPT_BYTES = 64 * 1024 * 1024
# An announcement may never come, as through a pooler that lends a connection for a transaction.
UNCHECKED_S = 5.0


class Asked(NamedTuple):
    """What tells one question from another; `path` with its escapes undone, `query` as sent."""

    path: str
    query: str = ""
    content_type: str = ""
    body: bytes = b""


class Answer(NamedTuple):
    """The JSON of a 200, and the route that it is counted for."""

    body: bytes
    method: str
    route: str


class KeptAnswers:
    """Whole answers that only the indexer's writes can change, each under the version it is of.

    A question's version is the one heard of before its answer is read. PostgreSQL tells of a commit
    right after it can be seen, and a kept answer lasts until that is heard: 0.2 ms longer than it
    is true, measured, and up to 3 on a busy machine; but never after this process has told
    something newer, see catch_up(), nor for longer than UNCHECKED_S where nothing is heard. Without
    `announcements`, as where a standby is read, nothing is kept.
    """

    def __init__(self, database: Database, announcements: Announcements | None) -> None:
        self._database = database
        self._announcements = announcements
        self._lock = threading.Lock()
        # One attribute, so that no thread sees a new version with the answers of an old one.
        self._kept: tuple[News | None, dict[Asked, Answer]] = (None, {})
        self._size = 0
        self._checked_at = 0.0  # when the database was last asked for its version

    def version(self) -> News | None:
        """Which state of the chain an answer read from now on is at least of; None: not known."""
        if self._announcements is None:
            return None
        return self._announcements.newest() or self._announcements.listen()

    def catch_up(self) -> None:
        """Between reading from the database and telling it: what is older is forgotten by then."""
        if self._announcements is None:
            return
        with suppress(Unavailable):
            version = self._database.prepared_value("http/chain_get_version")
            if version is not None:
                self._announcements.hear(version)
                self._checked_at = time.monotonic()

    def find(self, asked: Asked) -> Answer | None:
        """Never waits."""
        version, kept = self._kept
        answer = kept.get(asked)
        if answer is None or self._announcements is None:
            return None
        if time.monotonic() - self._checked_at > UNCHECKED_S:
            return None  # whoever answers instead asks for the version
        return answer if self._announcements.newest() == version else None

    def keep(self, version: News, asked: Asked, answer: Answer) -> None:
        if self._announcements is None or self._announcements.newest() != version:
            return  # it was long in coming; those of the new version stay
        size = 500 + sum(map(len, asked)) + len(answer.body)
        with self._lock:
            if version != self._kept[0] or self._size + size > MOST_KEPT_BYTES:
                self._kept, self._size = (version, {}), 0
            self._kept[1][asked] = answer
            self._size += size
