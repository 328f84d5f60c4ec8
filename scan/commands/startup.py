"""Checks before a subcommand starts: settings, database and schema, whether this machine has HOST
and a port is free; and stop signals.
"""

import _thread
import errno
import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

from scan.database import errors, migrations
from scan.database.connection import Database, is_well_formed
from scan.database.outages import log_pause
from scan.errors import ScanError, SettingError
from scan.files import write_private
from scan.indexer.chain_identity import require_same_start
from scan.observability import metrics
from scan.setting_kinds import host as host_kind
from scan.setting_kinds import primary_url, without_password
from scan.settings import Settings

log = logging.getLogger(__name__)

DATABASE_FILE = "database_url"
NODES_FILE = "node_urls"
SHARED = (
    "the pooler shares sessions between clients (PgBouncer's pool_mode = transaction or"
    " statement); Scan requires pool_mode = session, or a direct connection to"
    " PostgreSQL"
)
READ_ONLY = (
    "this server is read-only (a standby?); set the primary here, and a standby in"
    " READ_DATABASE_URL"
)


def require_order(first: int | None, last: int | None) -> None:
    """Raise SettingError where --from is after --to."""
    if first is not None and last is not None and first > last:
        raise SettingError("--to", str(last), "is before --from")


def require_database(settings: Settings) -> None:
    if not settings.database_url:
        raise SettingError("DATABASE_URL", "", "set it, or start `scan run`, which has its own")
    _require_well_formed("DATABASE_URL", settings.database_url)


def _require_well_formed(name: str, url: str) -> None:
    if not is_well_formed(url):  # libpq's own message may have the password
        reason = f"must be {primary_url.right}: libpq cannot parse it, or does not know a parameter"
        raise SettingError(name, without_password(url), reason)


def require_node(settings: Settings) -> None:
    if not settings.rpc_urls:
        raise SettingError("RPC_URL", "", "required: the URL of a node")


def settings_with_database(settings: Settings) -> Settings:
    """Return the settings; without DATABASE_URL, with the database of the running `scan run` that
    has the same SCAN_DATA_DIR. Raises SettingError."""
    if not settings.database_url:
        with suppress(FileNotFoundError):
            url = (settings.data_dir / DATABASE_FILE).read_text(encoding="utf-8")
            settings = replace(settings, database_url=url, read_database_url=url)
    require_database(settings)
    return settings


@contextmanager
def connected(settings: Settings, name: str) -> Iterator[Database]:
    """Open the database of settings_with_database() without a statement time-out."""
    url = settings_with_database(settings).database_url
    with closing(Database(url, statement_timeout_ms=0, name=name)) as database:
        yield database


def publish_database(settings: Settings) -> None:
    """Write the URLs of the database and of the nodes to files, for other commands with the same
    SCAN_DATA_DIR."""
    write_private(settings.data_dir / NODES_FILE, "\n".join(settings.rpc_urls))
    write_private(settings.data_dir / DATABASE_FILE, settings.database_url)


def withdraw_database(settings: Settings) -> None:
    """Remove what publish_database() has written."""
    for name in (DATABASE_FILE, NODES_FILE):
        (settings.data_dir / name).unlink(missing_ok=True)


def settings_with_node(settings: Settings) -> Settings:
    """Return settings_with_database(); without RPC_URL and DATABASE_URL, with the nodes of the
    running `scan run` that has the same SCAN_DATA_DIR. Raises SettingError where there is none."""
    if not settings.rpc_urls and not settings.database_url:
        with suppress(FileNotFoundError):
            urls = (settings.data_dir / NODES_FILE).read_text(encoding="utf-8").splitlines()
            settings = replace(settings, rpc_urls=tuple(urls))
    require_node(settings)
    return settings_with_database(settings)


def prepare_database(settings: Settings, *, reads: bool = False, may_be_away: bool = True) -> None:
    """Check the database and update its schema, at every start.

    Raises SettingError as require_usable_database() and require_same_start() do, and SchemaMismatch
    where the tables are of a commit from which no migration leads here. If the database is
    unavailable, raises Unavailable, or with `may_be_away` logs that, since the subcommand itself
    waits for it.
    """
    require_usable_database(settings, reads=reads)
    try:
        migrations.run(settings)
        with closing(
            Database(settings.database_url, statement_timeout_ms=5000, name="scan-start")
        ) as database:
            require_same_start(database, settings.start_block)
    except errors.SchemaMismatch:  # which waiting does not mend
        raise
    except ScanError as error:
        if not may_be_away:
            raise
        log_pause(log, "cannot check the database schema", error)


def require_usable_database(settings: Settings, *, reads: bool = False) -> None:
    """Raise SettingError if the database responds but is not usable; do not if it is unavailable.

    With `reads`, READ_DATABASE_URL is checked, too.
    """
    _require_usable("DATABASE_URL", settings.database_url, takes_writes=True)
    if reads and settings.reads_replica:
        _require_usable("READ_DATABASE_URL", settings.read_database_url, takes_writes=False)


def _require_usable(name: str, url: str, *, takes_writes: bool) -> None:
    _require_well_formed(name, url)
    with closing(Database(url, statement_timeout_ms=5000, name="scan-start")) as database:
        try:
            is_read_only = database.value("database/session_is_read_only")
        except errors.SharedSession:
            raise SettingError(name, without_password(url), SHARED) from None
        except ScanError as error:
            log_pause(log, "%s cannot be checked", error, name)
            return
    if takes_writes and is_read_only:
        raise SettingError(name, without_password(url), READ_ONLY)


def on_stop_signals(stop: Callable[[], None]) -> None:
    """Call `stop` at a signal, in a thread: a handler interrupts the main thread, which may hold
    the lock of the event that `stop` sets, and would wait for itself for ever."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: _thread.start_new_thread(stop, ()))


WAIT_S = 5.0


def require_free_port(settings: Settings, stop: threading.Event | None = None) -> None:
    """Wait until PORT at HOST is free: after a kill -9 the last run's children release it a moment
    later. Raises SettingError."""
    _require(settings.host, "PORT", settings.port, stop or threading.Event())


def serve_metrics(settings: Settings, port: int | None) -> None:
    """Serve GET /metrics and /healthz at HOST in a thread; without a port do nothing. Raises
    SettingError."""

    if port is not None:
        _require(settings.host, "--metrics-port", port, threading.Event())
        metrics.serve(settings.host, port)
        threading.Thread(target=_tell_chain, args=(settings,), daemon=True).start()


def _tell_chain(settings: Settings) -> None:
    """Set the metric of the database's chain, once there is one."""
    url, chain_id = settings.database_url, None
    while chain_id is None:
        with closing(Database(url, statement_timeout_ms=5000)) as database, suppress(ScanError):
            chain_id = database.value("queries/chain_get_id")
        time.sleep(WAIT_S)
    metrics.CHAIN_INFO.labels(chain_id, settings.chain_name).set(1)


def _require(host: str, name: str, port: int, stop: threading.Event) -> None:
    deadline = time.monotonic() + WAIT_S
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    while True:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                return probe.bind((host, port))
            except OSError as error:
                reason = error.strerror or str(error)
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    wrong = f"must be {host_kind.right}: {reason}"
                    raise SettingError("HOST", host, wrong) from None
                if error.errno == errno.EACCES or time.monotonic() > deadline or stop.is_set():
                    wrong = f"must be a free port: {reason}"
                    raise SettingError(name, str(port), wrong) from None
        stop.wait(0.2)
