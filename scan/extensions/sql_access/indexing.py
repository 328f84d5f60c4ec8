"""What runs beside indexing: the end of sessions that run too long."""

import threading

from scan.commands.hooks import Indexing
from scan.database.connection import Database
from scan.extensions.sql_access import sql_roles
from scan.settings import Settings


def run_beside(settings: Settings, stop: threading.Event) -> None:
    database = Database(settings.database_url, statement_timeout_ms=5000, name="scan-sessions")
    sql_roles.watch(database, stop)


HOOKS = Indexing(run=run_beside)
