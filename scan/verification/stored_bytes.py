"""The bytes that verifications stored in the last day, in all and by client, of all processes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from scan.database.connection import Database
from scan.errors import RateLimited, Unavailable

DAY = timedelta(days=1)
MAX_BYTES_A_DAY = 2_000_000_000
CLIENT_SHARE = 10  # a client may store a tenth of the bound for all
RETRY_AFTER_S = 3600


def _now() -> datetime:
    return datetime.now(UTC)


class StoredBytes:
    """Counts in the database, so that restarts and several processes share one bound."""

    def __init__(
        self,
        database: Database,
        most_bytes: int = MAX_BYTES_A_DAY,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._database = database
        self._most_bytes = most_bytes
        self._now = now

    def check(self, client: str | None) -> None:
        """Raise RateLimited or Unavailable where no more may be stored. The caller checks this
        before a compiler runs."""
        row = self._database.row(
            "verification/stored_bytes_get", since=self._now() - DAY, client=client
        )
        assert row is not None
        of_all, of_client = row
        if of_client >= self._most_bytes // CLIENT_SHARE:
            raise RateLimited(
                "Your verifications of the last 24 hours have stored as much as they may.",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        if of_all >= self._most_bytes:
            raise Unavailable(
                "Verifications have stored as much as they may within 24 hours.",
                retry_after_s=RETRY_AFTER_S,
            )

    def add(self, client: str | None, size: int) -> None:
        """Count the bytes, and delete the entries that are older than a day."""
        now = self._now()
        self._database.rows("verification/stored_bytes_insert", now=now, client=client, bytes=size)
        self._database.rows("verification/stored_bytes_sweep", stored_before=now - DAY)
