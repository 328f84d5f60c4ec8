"""Whether a connection has a session of its own, which prepared statements, settings, locks and
LISTEN need: a pooler in transaction or statement mode lends it another one for each transaction.
"""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg2
import psycopg2.sql

from scan.database.errors import NoResponse, SharedSession
from scan.database.statements import read_statement
from scan.database.transaction import run
from scan.deadlines import Deadline

log = logging.getLogger(__name__)

MARK = "scan.session"
READS = 8
SHARED_SESSION = "The database's connections share sessions: its pooler is not in session mode."


def apply_settings(connection: Any, settings: Mapping[str, str]) -> None:
    """Apply settings in one round trip; all of them or, where it raises, none.

    It takes 0.04 ms; a SELECT of set_config() would take 0.3 ms in a new session.
    """
    statements = (
        psycopg2.sql.SQL("SET {} = {}").format(
            psycopg2.sql.Identifier(*name.split(".")), psycopg2.sql.Literal(value)
        )
        for name, value in settings.items()
    )
    with connection.cursor() as cursor:
        cursor.execute(psycopg2.sql.SQL("; ").join(statements))


def require_own_session(
    connection: Any,
    connect: Callable[[], Any],
    limit: Callable[[Any], AbstractContextManager[None]],
) -> bool:
    """Return whether connections certainly have sessions of their own. Raises SharedSession.

    A mark that the connection sets is visible in its session alone. A shared session is proved when
    a second connection sees the mark, or the first one misses it; neither happens without a pooler.

    Most poolers lend the session that was used last, so the second connection gets the session in
    which the first has just read. As other clients may come between, both read in turn, several
    times. Poolers that lend sessions in turn give the first connection another session sooner or
    later. `limit` bounds the time on a connection, for a pooler that has no session left.
    """
    mark = secrets.token_hex(16)
    with limit(connection):
        apply_settings(connection, {MARK: mark})
        for _ in range(READS):
            _require(_mark_of(connection) == mark)
    try:
        second = connect()
        try:
            for _ in range(READS):
                with limit(connection):
                    _require(_mark_of(connection) == mark)
                with limit(second):
                    _require(_mark_of(second) != mark)
            with limit(second):
                with second.cursor() as cursor:
                    cursor.execute("BEGIN")  # keeps its session from being lent to the first
                _require(_mark_of(second) != mark)
            with limit(connection):
                for _ in range(READS):
                    _require(_mark_of(connection) == mark)
        finally:
            second.close()
    except (psycopg2.Error, NoResponse) as error:
        with suppress(psycopg2.Error, NoResponse):
            _require(isinstance(error, NoResponse) or not _refuses_transactions(connect, limit))
        log.debug("cannot detect whether sessions are shared: %s", error)
        return False
    return True


def _require(is_as_expected: bool) -> None:
    if not is_as_expected:
        raise SharedSession(SHARED_SESSION)


def _refuses_transactions(
    connect: Callable[[], Any], limit: Callable[[Any], AbstractContextManager[None]]
) -> bool:
    """Return whether every connection is closed when it begins a transaction, as by a pooler in
    statement mode. A lost server closes one connection, and refuses the next."""
    for _ in range(2):
        connection = connect()
        try:
            with limit(connection):
                _mark_of(connection)  # in session mode the connection now has its session
            try:
                with limit(connection), connection.cursor() as cursor:
                    cursor.execute("BEGIN")
            except psycopg2.OperationalError:
                if not connection.closed:
                    raise
            else:
                return False
        finally:
            connection.close()
    return True


def _mark_of(connection: Any) -> object:
    with connection.cursor() as cursor:
        [(mark,)] = run(cursor, read_statement("database/session_get_mark"), {})
    return mark


NO_RESPONSE = "The database does not respond; try again shortly."


@contextmanager
def limit(connection: Any, seconds: float | None) -> Iterator[None]:
    """Bound the time of the `with` block on a connection. Raises NoResponse after it."""
    deadline = Deadline(connection.fileno)
    deadline.begin(seconds)
    try:
        yield
    except psycopg2.Error as error:
        if deadline.is_late:
            raise NoResponse(NO_RESPONSE) from error
        raise
    finally:
        deadline.end()
