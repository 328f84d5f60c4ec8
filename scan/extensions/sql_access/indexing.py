"""The end of sessions of `scan sql-role`'s roles that exceed their time-out, beside indexing.

PostgreSQL lets every role lift its own statement_timeout, so another session has to end them.
"""

import logging
import threading

from scan.commands.hooks import Indexing
from scan.database.connection import Database
from scan.errors import ScanError
from scan.settings import Settings

log = logging.getLogger(__name__)

EVERY_S = 5.0
GRACE_S = 2.0  # for the server's own time-out to cancel the statement first


def end_sessions(database: Database, grace_s: float = GRACE_S) -> int:
    """End sessions that run too long, and return how many."""
    ended = database.rows("database/sql_roles_end_sessions", grace_s=grace_s)
    for role, state in ended:
        log.warning("a session of the SQL role %s was ended: too long %s", role, state)
    return len(ended)


def watch(database: Database, stop: threading.Event) -> None:
    """End sessions that run too long until `stop` is set, and then close the database."""
    while not stop.wait(EVERY_S):
        try:
            end_sessions(database)
        except ScanError as error:
            log.debug("sessions of SQL roles are not looked at: %s", error)
    database.close()


def run_beside(settings: Settings, stop: threading.Event) -> None:
    database = Database(settings.database_url, statement_timeout_ms=5000, name="scan-sessions")
    watch(database, stop)


HOOKS = Indexing(run=run_beside)
