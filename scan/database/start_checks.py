"""What stops a start: an address at which the database answers, but can never be used."""

import logging

from scan.database.connection import Database
from scan.database.errors import SharedSession
from scan.errors import ScanError, SettingError
from scan.settings import Settings, without_password

log = logging.getLogger(__name__)

SHARED = (
    "the pooler shares sessions between clients (PgBouncer's pool_mode = transaction or"
    " statement); Scan requires pool_mode = session, or a direct connection to"
    " PostgreSQL"
)
READ_ONLY = (
    "this server is read-only (a standby?); set the primary here, and a standby in"
    " READ_DATABASE_URL"
)


def require_usable(settings: Settings, *, reads: bool = False) -> None:
    """Raises SettingError; a database that is away passes, since every part waits for it.

    With `reads` what READ_DATABASE_URL names has to be usable, too.
    """
    _require("DATABASE_URL", settings.database_url, takes_writes=True)
    if reads and settings.reads_replica:
        _require("READ_DATABASE_URL", settings.read_database_url, takes_writes=False)


def _require(name: str, url: str, *, takes_writes: bool) -> None:
    database = Database(url, statement_timeout_ms=5000, name="scan-start")
    try:
        is_read_only = database.value("database/session_is_read_only")
    except SharedSession:
        raise SettingError(name, without_password(url), SHARED) from None
    except ScanError as error:
        log.warning("%s cannot be checked: %s", name, error.message)
        return
    finally:
        database.close()
    if takes_writes and is_read_only:
        raise SettingError(name, without_password(url), READ_ONLY)
