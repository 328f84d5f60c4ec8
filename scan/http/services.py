"""The services that views use, which live as long as the process."""

from dataclasses import dataclass
from typing import NamedTuple, cast

from flask import current_app

from scan.accounts.key_lookup import ApiKeyLookup
from scan.accounts.key_usage import KeyUsage
from scan.database.connection import Database
from scan.database.notifications import Listener
from scan.http.index_version import CHANNEL
from scan.queries.reader import Sources
from scan.rate_limits.limiter import Limiter
from scan.rate_limits.turns import WaitingThreads
from scan.settings import Settings
from scan.verification.verifier import Verifier

# Pages follow an index whatever the planner knows of the tables: a plan made while they were
# empty must serve when they are not.
SESSION = {"enable_seqscan": "off", "enable_bitmapscan": "off"}
# Of the time-out of a statement: a bulk backfill locks each table until it is loaded.
STATEMENT_TIMEOUT_MS = 5000
LOCK_WAIT_SHARE = 0.2


class Connections(NamedTuple):
    """The databases that are written and read: the same, unless a replica is read."""

    writes: Database
    reads: Database


@dataclass(frozen=True)
class Services:
    """`sources` may read a replica of `writes`."""

    settings: Settings
    sources: Sources
    writes: Database
    limiter: Limiter
    key_lookup: ApiKeyLookup
    key_usage: KeyUsage
    verifier: Verifier
    waiting_threads: WaitingThreads

    @property
    def reads(self) -> Database:
        return self.sources.database

    def version_listener(self) -> Listener | None:
        """Return a new listener to versions of the index; None where a replica is read, which
        receives no notifications."""
        if self.settings.reads_replica:
            return None
        return Listener(connect(self.settings, self.settings.database_url), CHANNEL)


def connect(settings: Settings, url: str) -> Database:
    lock_wait = str(int(STATEMENT_TIMEOUT_MS * LOCK_WAIT_SHARE))
    session = {**SESSION, "lock_timeout": lock_wait, "scan.base_path": settings.base_path}
    return Database(
        url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-api", session=session
    )


def services() -> Services:
    return cast(Services, current_app.extensions["scan"])
