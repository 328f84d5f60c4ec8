"""The errors of the database, into which psycopg2's errors are translated."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg2
import psycopg2.errors

from scan.errors import Unavailable

UNREACHABLE = "The database cannot be reached; try again shortly."
DISK_FULL = "The database's disk is full; writing resumes when there is space."
NO_SPACE = "No space left on device"  # the kernel's words, in PostgreSQL's reason for no connection
START_OR_CORRECT = "start PostgreSQL, or correct host and port in DATABASE_URL"
WAIT = "it is waited for"
# What to correct, by what libpq reports where no connection is made.
CORRECTIONS = (
    (r'database ".*" does not exist', "create it, or correct the database's name in DATABASE_URL"),
    (r'role ".*" does not exist', "create the role, or correct the user in DATABASE_URL"),
    (r"password|authentication|pg_hba", "correct the user or the password in DATABASE_URL"),
    (r"could not translate host name", "correct the host in DATABASE_URL"),
    (NO_SPACE, "add space to its disk"),
    (r"too many|connection slots", "end other sessions, or raise max_connections"),
    (r"the database system is", WAIT),
    (r"", START_OR_CORRECT),
)
TOO_SLOW = "This combination of filters took too long; narrow it with blockFrom and blockTo."


class Conflict(Exception):
    """A row violates `constraint`, a constraint of the schema."""

    def __init__(self, constraint: str) -> None:
        super().__init__(constraint)
        self.constraint = constraint


class Away(Unavailable):
    """The database cannot be used now, which connection.py has logged for all who wait for it."""


class Unreachable(Away):
    """No connection could be made, for a `reason` of libpq."""

    def __init__(self, reason: str) -> None:
        super().__init__(DISK_FULL if NO_SPACE in reason else UNREACHABLE)
        self._reason = reason
        self._cure = next(cure for words, cure in CORRECTIONS if re.search(words, reason))
        # What somebody has to correct; "" where the server may only have been stopped.
        self.to_correct = "" if self._cure in (START_OR_CORRECT, WAIT) else self._cure

    @property
    def for_operators(self) -> str:
        return f"the database cannot be reached: {self._reason}; {self._cure}"


class ConnectionLost(Away):
    """The connection broke during a statement, or cannot be used further. A read may
    be repeated."""


class NoResponse(Away):
    """The server did not answer within its own time-out: it is frozen, or the network is dead."""


class CannotWrite(Away):
    """The server answers but takes no writes: its disk is full, or it is a standby."""


class SharedSession(Unavailable):
    """A pooler gives a connection another session for each transaction, or statement."""


class LockNotGranted(Unavailable):
    """A lock was not granted within lock_timeout."""


class NotPermitted(Unavailable):
    """The database's role lacks a privilege."""


class SchemaMismatch(Unavailable):
    """The database lacks what a statement names: PostgreSQL's `reason`, which is for logs. The
    message ends with the `way_out`, where there is one."""

    def __init__(self, message: str, *, reason: str, way_out: str = "") -> None:
        super().__init__(f"{message}{way_out}")
        self.reason = reason
        self.way_out = way_out

    @property
    def for_operators(self) -> str:
        return self.message if self.way_out else f"{self.message} ({self.reason})"


class LimitExceeded(Unavailable):
    """An object is larger than PostgreSQL can have it: such as a view with too many columns."""


class StillUsed(Unavailable):
    """An object cannot be dropped, as others depend on it, such as a view that is not Scan's."""


class QueryTooSlow(Unavailable):
    """A statement exceeded its time-out."""


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise Unavailable and its subclasses above, or Conflict, for psycopg2's errors."""
    try:
        yield
    except psycopg2.errors.QueryCanceled as error:
        raise QueryTooSlow(TOO_SLOW) from error
    except (
        psycopg2.errors.UndefinedTable,
        psycopg2.errors.UndefinedColumn,
        psycopg2.errors.UndefinedFunction,
        # What CREATE OR REPLACE cannot change: results of a function, columns of a view.
        psycopg2.errors.InvalidFunctionDefinition,
        psycopg2.errors.InvalidTableDefinition,
    ) as error:
        reason = error.diag.message_primary or ""
        outdated = "The database does not match this version of Scan; run `scan migrate`."
        raise SchemaMismatch(outdated, reason=reason) from error
    except psycopg2.errors.InsufficientPrivilege as error:
        hint = error.diag.message_hint  # from the schema
        reason = f"The role of DATABASE_URL lacks a privilege: {error.diag.message_primary}."
        raise NotPermitted(hint or reason) from error
    except psycopg2.errors.FeatureNotSupported as error:
        # A migration changed what a prepared statement returns.
        raise ConnectionLost("The database's schema has changed; try again.") from error
    except (
        psycopg2.errors.InvalidSqlStatementName,
        psycopg2.errors.DuplicatePreparedStatement,
    ) as error:
        # Only this connection prepares and deallocates its statements.
        raise ConnectionLost("The database session is shared with other connections.") from error
    except psycopg2.errors.LockNotAvailable as error:
        reason = "Another transaction holds a lock; try again shortly."
        raise LockNotGranted(error.diag.message_hint or reason) from error  # from a migration
    except (
        psycopg2.errors.ProgramLimitExceeded,
        psycopg2.errors.StatementTooComplex,
        psycopg2.errors.TooManyColumns,
    ) as error:
        reason = f"A limit of PostgreSQL is exceeded: {error.diag.message_primary}."
        raise LimitExceeded(reason) from error
    except psycopg2.errors.DependentObjectsStillExist as error:
        reason = f"{error.diag.message_primary}: {error.diag.message_detail}"
        raise StillUsed(reason) from error
    except psycopg2.IntegrityError as error:
        raise Conflict(error.diag.constraint_name or "") from error
    except psycopg2.errors.DiskFull as error:
        raise CannotWrite(DISK_FULL) from error
    except psycopg2.errors.ReadOnlySqlTransaction as error:
        reason = "The database is read-only (a standby?); DATABASE_URL must be the primary."
        raise CannotWrite(reason) from error
    except psycopg2.Error as error:
        # An error without a code is libpq's: where the server's process was killed, "server closed
        # the connection unexpectedly" is not always an OperationalError.
        is_lost = isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError)
        if not is_lost and error.pgcode is not None:
            raise
        raise ConnectionLost("The database is restarting; try again shortly.") from error
