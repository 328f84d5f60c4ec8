"""Services that views use, which live as long as the process."""

from dataclasses import dataclass
from typing import cast

from flask import current_app

from scan.accounts.api_keys import ApiKeyLookup, KeyUsage
from scan.concurrency.waiting_threads import WaitingThreads
from scan.database import connection, notifications
from scan.http.index_version import CHANNEL
from scan.queries import network
from scan.queries.reader import Sources
from scan.rate_limits.limiter import Limiter
from scan.settings import Settings
from scan.verification.verifier import Verifier

# Pages follow an index whatever the planner knows of the tables: a plan made while they were
# empty must serve when they are not.
SESSION = {"enable_seqscan": "off", "enable_bitmapscan": "off"}
# Of the time-out of a statement: a bulk backfill locks each table until it is loaded.
STATEMENT_TIMEOUT_MS = 5000
LOCK_WAIT_SHARE = 0.2


@dataclass(frozen=True)
class Services:
    """`sources` may read a replica of `writes`."""

    settings: Settings
    sources: Sources
    writes: connection.Database
    limiter: Limiter
    key_lookup: ApiKeyLookup
    key_usage: KeyUsage
    verifier: Verifier
    waiting_threads: WaitingThreads

    @property
    def reads(self) -> connection.Database:
        return self.sources.database

    def version_listener(self) -> notifications.Listener | None:
        """Return a new listener to versions of the index; None where a replica is read, which
        receives no notifications."""
        if self.settings.reads_replica:
            return None
        return notifications.Listener(connect(self.settings, self.settings.database_url), CHANNEL)


def connect(
    settings: Settings, url: str, *, statement_timeout_ms: int | None = None, **further: str
) -> connection.Database:
    """Return the connections to a database, with `further` settings of PostgreSQL; a statement has
    by default STATEMENT_TIMEOUT_MS."""
    lock_wait = str(int(STATEMENT_TIMEOUT_MS * LOCK_WAIT_SHARE))
    session = {
        **SESSION,
        "lock_timeout": lock_wait,
        "scan.base_path": settings.base_path,
        "scan.coin_symbol": settings.coin_symbol,
        "scan.coin_symbols": network.SYMBOLS,
        **further,
    }
    return connection.Database(
        url,
        statement_timeout_ms=statement_timeout_ms or STATEMENT_TIMEOUT_MS,
        name="scan-api",
        session=session,
    )


def services() -> Services:
    return cast(Services, current_app.extensions["scan"])
