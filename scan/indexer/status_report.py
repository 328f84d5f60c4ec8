"""Why the head does not advance: always in the database for /readyz, in the log when it is news."""

import logging
import re
import time

from scan.database.connection import Database
from scan.errors import ScanError
from scan.observability import metrics

log = logging.getLogger(__name__)

AGAIN_AFTER_S = 60.0


class Report:
    """What operators are told. The same kind of problem is logged once a minute at most."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._logged_at: dict[str, float] = {}
        self._is_standing = False  # whether a logged problem waits for its end to be logged

    def well(self, node_head: int) -> None:
        if self._is_standing:
            log.info("following again; the node is at block %d", node_head)
        self._is_standing = False
        self._note(node_head, None)

    def problem(self, node_head: int | None, reason: str) -> None:
        """A new one is logged at once."""
        if self.is_news(reason):
            log.warning("the head does not advance: %s", reason)
            self._is_standing = True
        self._note(node_head, reason)

    def is_news(self, reason: str) -> bool:
        """Whether nothing of this kind was told lately; numbers and hashes make no new kind."""
        kind = re.sub(r"0x[0-9a-f]+|(?<!HTTP )\b[0-9]+", "#", reason)
        now = time.monotonic()
        is_new = now - self._logged_at.get(kind, -AGAIN_AFTER_S) >= AGAIN_AFTER_S
        if is_new:
            if len(self._logged_at) > 1000:
                self._logged_at.clear()
            self._logged_at[kind] = now
        return is_new

    def _note(self, node_head: int | None, problem: str | None) -> None:
        metrics.INDEXER_STALLED.set(problem is not None)
        try:
            self._database.rows("indexer/chain_record_status", node_head=node_head, problem=problem)
        except ScanError as error:
            log.debug("cannot note the problem: %s", error)
