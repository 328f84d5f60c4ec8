"""Connections to PostgreSQL that run named statements from sql/, one for each thread."""

import logging
import math
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psycopg2
import psycopg2.extensions

from scan.database import errors
from scan.database.outages import is_due, note_connected
from scan.database.sessions import NO_RESPONSE, apply_settings, limit, require_own_session
from scan.database.statements import Prepared, Statement, prepare, read_statement
from scan.database.transaction import Row, Transaction, run
from scan.deadlines import WAIT_FOR_ANOTHER_S, Deadline, RequestWaits
from scan.errors import Unavailable

_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE
Call = tuple[str, Mapping[str, object]]  # a statement with its parameters
log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 2
# How long after the server's own statement time-out an answer is still waited for.
ANSWER_GRACE_S = 1.5
START_DEADLINE_S = 3.0  # a pooler whose sessions are all in use makes new clients wait
CHECK_SESSIONS_AGAIN_S = 60.0
check_sessions_at: dict[str, float] = {}  # by URL: in one process several databases have the same
MAX_PREPARED = 64  # on one connection; a plan takes some 100 kB

request_waits = RequestWaits()


def is_well_formed(url: str) -> bool:
    """Return whether libpq can parse a URL and knows its parameters."""
    try:
        psycopg2.extensions.parse_dsn(url)
    except psycopg2.ProgrammingError:
        return False
    return True


def split_password(url: str) -> tuple[str, str]:
    """Return libpq's parameters of a URL without the password, and the password, "" for none."""
    parameters = psycopg2.extensions.parse_dsn(url)
    password = parameters.pop("password", "")
    return psycopg2.extensions.make_dsn(**parameters), password


LEAST_FREE_BYTES = 16 << 20  # a segment of PostgreSQL's log
DATA_LINK = "data_directory"  # in the folder of a socket: the server's, where that is another one


class Database:
    """Connections to one PostgreSQL, one for each thread, in autocommit.

    Every method raises Unavailable when the server cannot be reached, QueryTooSlow at the
    statement time-out. Statements are named by their file in sql/.
    """

    def __init__(
        self,
        url: str,
        *,
        statement_timeout_ms: int,
        name: str = "scan",
        session: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`session` has further settings of PostgreSQL for each connection."""
        self._url = url
        self._settings = {
            "statement_timeout": str(statement_timeout_ms),
            "timezone": "UTC",
            "jit": "off",
            "client_connection_check_interval": "2000",  # a killed client's statement ends, too
            "random_page_cost": "1.1",
            "plan_cache_mode": "force_generic_plan",
            **session,
        }
        limit_s = statement_timeout_ms / 1000 + ANSWER_GRACE_S
        self._deadline_s = limit_s if statement_timeout_ms else None
        self._is_unreachable = False
        self._why_unreachable = "no response"
        self._probing = threading.Lock()
        self._probe_at = 0.0
        self._name = name
        self._work = Work(self)

    def value(self, statement: str, **params: object) -> Any:
        """Return the first column of the first row, or None without a row."""
        rows = self.rows(statement, **params)
        return rows[0][0] if rows else None

    def row(self, statement: str, *preceding: Call, **params: object) -> Row | None:
        rows = self.rows(statement, *preceding, **params)
        return rows[0] if rows else None

    def rows(self, statement: str, *preceding: Call, **params: object) -> list[Row]:
        """Return all rows; a statement that can be prepared is: see statements.py.

        Those `preceding` it go with it, in one round trip that is a transaction; each sees what was
        committed before it began. Where the connection had died, all run once more on a new one:
        maybe for a second time, as it can have died after their commit.
        """
        loaded = read_statement(statement)
        is_repeated = False
        while True:
            try:
                with self._work as connection, connection.cursor() as cursor:
                    if preceding:
                        tx = Transaction(cursor, self._prepare)
                        for name, of_other in preceding:
                            tx.defer(name, **of_other)
                        return tx.rows(statement, **params)
                    if loaded.literals is None:
                        return run(cursor, loaded, params)
                    prepared = self._prepare(cursor, loaded, params)
                    cursor.execute(prepared.execute, prepared.values(params))
                    return cursor.fetchall() if cursor.description else []
            except errors.ConnectionLost:
                if is_repeated:
                    raise
                is_repeated = True

    @contextmanager
    def transaction(
        self, *, snapshot: bool = False, prepared: bool = False
    ) -> Iterator["Transaction"]:
        """Begin a transaction, which the end of the `with` block commits and an error in it rolls
        back.

        With `snapshot`, all its statements see the database as the first one does. With `prepared`,
        those that can be prepared are: see statements.py.
        """
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ" if snapshot else "BEGIN"
        try:
            cursor = self._begin(begin)
        except errors.ConnectionLost:  # the connection had died unnoticed
            cursor = self._begin(begin)
        with self._work, cursor:
            tx = Transaction(cursor, self._prepare if prepared else None)
            try:
                yield tx
                tx.commit()
            except BaseException:
                with suppress(psycopg2.Error):
                    cursor.execute("ROLLBACK")
                raise

    def is_in_transaction(self) -> bool:
        """Return whether this thread is inside transaction()."""
        connection = self._work.connection
        return connection is not None and connection.info.transaction_status != _IDLE

    def execute_script(self, text: str) -> None:
        """Run several statements in one transaction, such as schema.sql."""
        with self._work as connection, connection.cursor() as cursor:
            cursor.execute(text)

    def close(self) -> None:
        """Close this thread's connection."""
        connection, self._work.connection = self._work.connection, None
        if connection is not None:
            with suppress(psycopg2.Error):
                connection.close()

    def _begin(self, begin: str) -> Any:
        with self._work as connection:
            cursor = connection.cursor()
            cursor.execute(begin)
            return cursor

    def _prepare(self, cursor: Any, statement: Statement, params: Mapping[str, object]) -> Prepared:
        """Return the statement as this connection has prepared it for these literals."""
        of_connection = self._work.prepared
        key = (statement.name, *map(params.get, statement.literals or ()))
        prepared = of_connection.get(key)
        if prepared is not None:
            of_connection.move_to_end(key)
            return prepared
        if len(of_connection) >= MAX_PREPARED:
            cursor.execute(f"DEALLOCATE {of_connection.popitem(last=False)[1].name}")
        self._work.prepared_count += 1
        prepared = prepare(cursor, statement, params, f"s{self._work.prepared_count}")
        of_connection[key] = prepared
        return prepared

    def new_connection(self) -> Any:
        """Return a connection for the caller alone, in autocommit. Raises Unavailable.

        While the server cannot be reached, one thread tries, and the others fail at once; so do all
        for as long as an attempt lasts after one has waited.
        """
        began_at = time.monotonic()
        is_probe = self._is_unreachable
        if is_probe and (began_at < self._probe_at or not self._probing.acquire(blocking=False)):
            raise errors.Unreachable(self._why_unreachable)
        try:
            connection = self._open()
        except errors.SharedSession:
            raise
        except (psycopg2.Error, Unavailable) as error:
            reason = _first_line(error)
            # A PostgreSQL on this machine whose disk is full has ended, and tells nobody why, but
            # where its socket's folder leads to its data directory.
            folder = Path(psycopg2.extensions.parse_dsn(self._url).get("host", ""))
            with suppress(OSError):
                is_data = (folder / "PG_VERSION").is_file()
                data = folder if is_data else (folder / DATA_LINK).readlink()
                is_full = shutil.disk_usage(data).free < LEAST_FREE_BYTES
                if is_full and errors.NO_SPACE not in reason:
                    reason = f"{reason}; its disk is full: {errors.NO_SPACE}"
            self._note_unreachable(time.monotonic() - began_at)
            self._why_unreachable = reason
            unreachable = errors.Unreachable(reason)
            if is_due(self._url, unreachable.to_correct):
                log.warning("%s", unreachable.for_operators)
            raise unreachable from error
        finally:
            if is_probe:
                self._probing.release()
        self._is_unreachable = False
        note_connected(self._url)
        return connection

    def log_lost(self, error: Exception) -> None:
        """Log why a connection was given up, once a minute at most, as what follows from it."""
        reason = _first_line(error.__cause__ or error)
        if isinstance(error, errors.CannotWrite):
            if is_due(self._url, error.message):
                log.warning("%s (%s)", error.message, reason)
        elif is_due(self._url, ""):
            log.warning("database connection lost: %s", reason)

    def _note_unreachable(self, waited_s: float) -> None:
        """Have statements fail at once, also on open connections, until one thread has connected
        again."""
        self._is_unreachable = True
        if waited_s >= CONNECT_TIMEOUT_S:
            self._probe_at = time.monotonic() + CONNECT_TIMEOUT_S
            request_waits.note_vain()

    @contextmanager
    def deadline(self, connection: Any) -> Iterator[None]:
        """Apply the deadline and the errors of all methods to a connection of new_connection()."""
        with errors.translated_errors(), limit(connection, self._deadline_s):
            yield

    def _open(self) -> Any:
        """Open a connection with our settings. Until it is certain, check whether a pooler shares
        sessions."""
        connection = self._new_connection()
        try:
            with errors.translated_errors():
                with _limit_start(connection):
                    apply_settings(connection, self._settings)
                if time.monotonic() >= check_sessions_at.get(self._url, 0.0):
                    is_certain = require_own_session(connection, self._new_connection, _limit_start)
                    wait_s = math.inf if is_certain else CHECK_SESSIONS_AGAIN_S
                    check_sessions_at[self._url] = time.monotonic() + wait_s
        except BaseException:
            connection.close()
            raise
        return connection

    def _new_connection(self) -> Any:
        connection = psycopg2.connect(
            self._url,
            connect_timeout=CONNECT_TIMEOUT_S,
            application_name=self._name,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=2,
            tcp_user_timeout=10_000,
        )
        connection.autocommit = True
        return connection


class Work(threading.local):
    """A thread's connection, and the context that yields it to one statement or transaction, within
    the deadline: a class, as three nested generators took 8 us a statement."""

    connection: Any = None
    _deadline: Deadline  # of the connection

    def __init__(self, database: Database) -> None:
        self._database = database
        self.prepared: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()

    def __enter__(self) -> Any:
        database, connection = self._database, self.connection
        if (
            connection is None
            or connection.closed
            # In a transaction a connection is used on.
            or (database._is_unreachable and connection.info.transaction_status == _IDLE)
        ):
            database.close()
            self.connection = connection = database.new_connection()
            self._deadline = Deadline(connection.fileno)
            self.prepared, self.prepared_count = OrderedDict(), 0
        self._began_at = time.monotonic()
        limit_s = WAIT_FOR_ANOTHER_S if request_waits.was_in_vain else database._deadline_s
        self._deadline.begin(limit_s)
        return connection

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._deadline.end()
        if error is None:
            return
        if isinstance(error, psycopg2.Error):
            cause, error = error, self._translated(error)
            error.__cause__ = cause
        if isinstance(error, errors.CannotWrite | errors.ConnectionLost | errors.NoResponse):
            # Where the address names several hosts, the next connection may reach the primary.
            self._database.close()
            if isinstance(error, errors.NoResponse):
                self._database._note_unreachable(time.monotonic() - self._began_at)
            self._database.log_lost(error)
        raise error

    def _translated(self, error: psycopg2.Error) -> Exception:
        if self._deadline.is_late:
            return errors.NoResponse(NO_RESPONSE)
        try:
            with errors.translated_errors():
                raise error
        except Exception as translated:
            return translated


def data_folder(database: Database) -> Path | None:
    """Return the database's data folder; None if it is on another machine, or hidden from us."""
    text = database.value("database/disk_get_folder")
    with suppress(OSError):  # a folder above it is closed to this user
        return Path(text) if text and Path(text).is_dir() else None
    return None


def _limit_start(connection: Any) -> AbstractContextManager[None]:
    return limit(connection, START_DEADLINE_S)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
