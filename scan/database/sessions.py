"""Whether a connection has a session of its own, which prepared statements, settings, locks and
LISTEN need: a pooler in transaction or statement mode lends it another one for each transaction."""

import logging
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import psycopg2

from scan.database.errors import NoResponse, SharedSession
from scan.database.statements import load_statements
from scan.database.transaction import run

log = logging.getLogger(__name__)

MARK = "scan.session"
SHARED_SESSION = "The database's connections share sessions: its pooler is not in session mode."


def apply_settings(connection: Any, settings: dict[str, str]) -> None:
    """In one round trip; all of them or, where it raises, none."""
    names, values = list(settings), list(settings.values())
    with connection.cursor() as cursor:
        run(cursor, load_statements()["database/session_set"], {"names": names, "values": values})


def require_own_session(
    connection: Any,
    connect: Callable[[], Any],
    limit: Callable[[Any], AbstractContextManager[None]],
) -> bool:
    """Whether it is certain that the sessions of connections are their own; raises SharedSession.

    A mark that this connection has set is visible in its session alone. A shared one is proved when
    a second connection sees the mark, or this one misses it; neither happens without a pooler.
    While the second connection holds a session in a transaction, this one cannot be lent that one:
    most poolers lend the session that was used last, others take turns. `limit` ends what takes too
    long on a connection, as where a pooler has none left for the second.
    """
    mark = secrets.token_hex(16)
    with limit(connection):
        apply_settings(connection, {MARK: mark})
        _require(mark, _mark_of(connection))
    try:
        other = connect()
        try:
            with limit(other):
                _refuse(mark, _mark_of(other))
                with other.cursor() as cursor:
                    cursor.execute("BEGIN")
                _refuse(mark, _mark_of(other))
            with limit(connection):
                _require(mark, _mark_of(connection))
        finally:
            other.close()
    except (psycopg2.Error, NoResponse) as error:
        log.debug("whether sessions are shared is not certain: %s", error)
        return False
    return True


def _require(mark: str, found: object) -> None:
    if found != mark:
        raise SharedSession(SHARED_SESSION)


def _refuse(mark: str, found: object) -> None:
    if found == mark:
        raise SharedSession(SHARED_SESSION)


def _mark_of(connection: Any) -> object:
    with connection.cursor() as cursor:
        [(mark,)] = run(cursor, load_statements()["database/session_get_mark"], {})
    return mark
