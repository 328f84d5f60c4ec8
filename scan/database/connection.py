"""The only psycopg2: named statements from sql/, one connection per thread, domain errors."""

import io
import logging
import select
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, cast

import psycopg2
import psycopg2.errors
import psycopg2.sql
from psycopg2.extensions import AsIs

from scan.database import copy_format
from scan.database.statements import Statement, StatementError, load_statements
from scan.errors import Unavailable

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 2
REST_AFTER_FAILURE_S = 1.0
MOST_PREPARED = 64  # on one connection; a plan takes some 100 kB
Row = tuple[Any, ...]


class Conflict(Exception):
    """A row that a constraint of schema.sql does not allow; `constraint` is its name."""

    def __init__(self, constraint: str) -> None:
        super().__init__(constraint)
        self.constraint = constraint


class ConnectionLost(Unavailable):
    """The connection broke under a statement; a read may be asked again."""


class CannotWrite(Unavailable):
    """The server answers but takes no writes: its disk is full, or it is a standby."""


class QueryTooSlow(Unavailable):
    """A statement that met its time-out."""


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
        channel: str | None = None,
        session: str = "",
    ) -> None:
        self._url = url
        self._options = (
            f"-c statement_timeout={statement_timeout_ms} -c timezone=UTC -c jit=off"
            " -c client_connection_check_interval=2000"  # a killed client's statement ends, too
            f" -c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan {session}"
        )
        self._told_unreachable = False
        self._name = name
        self._channel = channel
        self._statements = load_statements()
        self._local = threading.local()

    def value(self, statement: str, **params: object) -> Any:
        """The first column of the first row, or None without a row."""
        row = self.row(statement, **params)
        return None if row is None else row[0]

    def row(self, statement: str, **params: object) -> Row | None:
        rows = self.rows(statement, **params)
        return rows[0] if rows else None

    def rows(self, statement: str, **params: object) -> list[Row]:
        """All rows; a read whose connection had died is asked once more on a new one."""
        found = self._statements[statement]
        try:
            return self._run(found, params)
        except ConnectionLost:
            return self._run(found, params)

    def prepared_row(self, statement: str, **params: object) -> Row | None:
        """As row(), with a plan made once for all values but those its header names.

        Planning a page's statement takes longer than running it; see "plan depends on" in sql/.
        """
        found = self._statements[statement]
        try:
            rows = self._run_prepared(found, params)
        except ConnectionLost:
            rows = self._run_prepared(found, params)
        return rows[0] if rows else None

    def prepared_value(self, statement: str, **params: object) -> Any:
        """The first column of prepared_row(), or None without a row."""
        row = self.prepared_row(statement, **params)
        return None if row is None else row[0]

    @contextmanager
    def transaction(self, *, snapshot: bool = False) -> Iterator["Transaction"]:
        """One transaction: committed at the end of the block, rolled back when it raises.

        With `snapshot` all its statements see the database as the first one does.
        """
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ" if snapshot else "BEGIN"
        try:
            cursor = self._begin(begin)
        except ConnectionLost:  # it had died unnoticed
            cursor = self._begin(begin)
        with self._translated(), cursor:
            try:
                yield Transaction(cursor, self._statements)
            except BaseException:
                with suppress(psycopg2.Error):
                    cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")

    def wait(self, timeout_s: float, wake: int) -> None:
        """Until something is announced on `channel`, `wake` is readable, or time is up."""
        connection = self._connection()
        with self._translated():
            connection.poll()
            if not connection.notifies:
                select.select([connection, wake], [], [], timeout_s)
                connection.poll()
            connection.notifies.clear()

    def execute_script(self, text: str) -> None:
        """Several statements at once, in one transaction: schema.sql."""
        with self._translated(), self._connection().cursor() as cursor:
            cursor.execute(text)

    def create_database(self, name: str) -> None:
        with self._translated(), self._connection().cursor() as cursor:
            cursor.execute(psycopg2.sql.SQL("CREATE DATABASE {}").format(_name(name)))

    def close(self) -> None:
        """Close this thread's connection."""
        connection = self._local.__dict__.pop("connection", None)
        if connection is not None:
            with suppress(psycopg2.Error):
                connection.close()

    def _begin(self, begin: str) -> Any:
        with self._translated():
            cursor = self._connection().cursor()
            cursor.execute(begin)
            return cursor

    def _run(self, statement: Statement, params: dict[str, object]) -> list[Row]:
        with self._translated(), self._connection().cursor() as cursor:
            return _rows(cursor, statement, params)

    def _run_prepared(self, statement: Statement, params: dict[str, object]) -> list[Row]:
        with self._translated(), self._connection().cursor() as cursor:
            values = [v for name, v in params.items() if not statement.is_literal(name, v)]
            name = self._prepare(cursor, statement, params)
            places = f"({', '.join(['%s'] * len(values))})" if values else ""
            cursor.execute(f"EXECUTE {name}{places}", values)
            return cast("list[Row]", cursor.fetchall())

    def _prepare(self, cursor: Any, statement: Statement, params: dict[str, object]) -> str:
        """The name under which this connection has the statement prepared for such params."""
        prepared: OrderedDict[tuple[object, ...], str] = self._local.prepared
        literals = [(n, v) for n, v in params.items() if statement.is_literal(n, v)]
        key = (statement.name, *params.keys(), *literals)
        if key in prepared:
            prepared.move_to_end(key)
            return prepared[key]
        if len(prepared) >= MOST_PREPARED:
            cursor.execute(f"DEALLOCATE {prepared.popitem(last=False)[1]}")
        self._local.made += 1
        name = f"s{self._local.made}"
        cursor.execute(_prepare_text(cursor, statement, params, name))
        prepared[key] = name
        return name

    def _connection(self) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is None or connection.closed:
            connection = self._connect()
            self._local.connection = connection
        return connection

    def _connect(self) -> Any:
        connection = self.new_connection()
        self._local.prepared = OrderedDict()
        self._local.made = 0
        return connection

    def new_connection(self) -> Any:
        """One of its own, in autocommit, which hears the channel; raises Unavailable."""
        try:
            connection = psycopg2.connect(
                self._url,
                connect_timeout=CONNECT_TIMEOUT_S,
                options=self._options,
                application_name=self._name,
                keepalives_idle=5,
                keepalives_interval=2,
                keepalives_count=2,
                tcp_user_timeout=10_000,
            )
        except psycopg2.Error as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            level = logging.DEBUG if self._told_unreachable else logging.WARNING
            log.log(level, "database cannot be reached: %s", reason)
            self._told_unreachable = True
            raise Unavailable("The database cannot be reached; try again shortly.") from error
        connection.autocommit = True
        self._told_unreachable = False
        if self._channel is not None:
            with self._translated(), connection.cursor() as cursor:
                cursor.execute(psycopg2.sql.SQL("LISTEN {}").format(_name(self._channel)))
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg2.errors.QueryCanceled as error:
            raise QueryTooSlow(
                "This combination of filters took too long; narrow it with blockFrom and blockTo."
            ) from error
        except (
            psycopg2.errors.UndefinedTable,
            psycopg2.errors.UndefinedColumn,
            psycopg2.errors.UndefinedFunction,
        ) as error:
            raise Unavailable("The database's schema is not the current one.") from error
        except psycopg2.errors.FeatureNotSupported as error:
            self.close()  # a migration changed what a prepared statement returns
            raise ConnectionLost("The database's schema has changed; try again.") from error
        except psycopg2.IntegrityError as error:
            raise Conflict(error.diag.constraint_name or "") from error
        except psycopg2.errors.DiskFull as error:
            raise CannotWrite(
                "The database's disk is full; writing goes on by itself once there is room."
            ) from error
        except psycopg2.errors.ReadOnlySqlTransaction as error:
            self.close()  # where the address names several hosts, the next may be the primary
            raise CannotWrite(
                "The database is read-only, as a standby is; DATABASE_URL has to name the primary."
            ) from error
        except (psycopg2.OperationalError, psycopg2.InterfaceError) as error:
            self.close()
            log.warning("database connection lost: %s", str(error).strip() or type(error).__name__)
            raise ConnectionLost("The database is restarting; try again shortly.") from error


class News(NamedTuple):
    """What was announced: the highest of payloads that are numbers, and how many others came.

    Both are of one `connection`; the next one may have missed some.
    """

    connection: int
    highest: int
    others: int


class Announcements:
    """What is announced on a database's channel, heard on one connection for all threads."""

    def __init__(self, database: Database, current: str) -> None:
        """The statement `current` tells the number that a new connection would have heard last."""
        self._database = database
        self._current = load_statements()[current]
        self._hearing = threading.Lock()
        self._connecting = threading.Lock()
        self._connection: Any = None
        self._news = News(0, -1, 0)
        self._rest_until = 0.0

    def newest(self) -> News | None:
        """None while nothing can be heard. Never waits: it looks at the socket."""
        with self._hearing:
            if self._connection is None:
                return None
            try:
                self._connection.poll()
                self._connection.poll()  # the first reads a server's last words, this finds it gone
            except psycopg2.Error:
                self._connection = None
                return None
            if self._connection.notifies:
                for notice in self._connection.notifies:
                    self._note(notice.payload)
                self._connection.notifies.clear()
            return self._news

    def hear(self, number: str) -> None:
        """What the database says already and has yet to announce."""
        with self._hearing:
            self._note(number)

    def listen(self) -> News | None:
        """As newest(), on a new connection where there is none; one thread waits for that.

        None where the database cannot be reached, and on a standby, which hears nothing.
        """
        if self._connection is None and self._connecting.acquire(blocking=False):
            try:
                self._connect()
            finally:
                self._connecting.release()
        return self.newest()

    def _note(self, payload: str) -> None:
        connection, highest, others = self._news
        if payload.isdigit():
            self._news = News(connection, max(highest, int(payload)), others)
        else:
            self._news = News(connection, highest, others + 1)

    def _connect(self) -> None:
        if self._connection is not None or time.monotonic() < self._rest_until:
            return
        self._rest_until = time.monotonic() + REST_AFTER_FAILURE_S
        with suppress(Unavailable, psycopg2.Error):
            connection = self._database.new_connection()
            with connection.cursor() as cursor:  # after LISTEN, so that nothing falls between
                rows = _rows(cursor, self._current, {})
            with self._hearing:
                self._news = News(self._news.connection + 1, int(rows[0][0]) if rows else -1, 0)
                self._connection = connection


class Transaction:
    """An open transaction: statements by name, and COPY."""

    def __init__(self, cursor: Any, statements: dict[str, Statement]) -> None:
        self._cursor = cursor
        self._statements = statements

    def value(self, statement: str, **params: object) -> Any:
        rows = self.rows(statement, **params)
        return rows[0][0] if rows else None

    def rows(self, statement: str, **params: object) -> list[Row]:
        return _rows(self._cursor, self._statements[statement], params)

    def execute(self, statement: str, **params: object) -> int:
        """Run it; how many rows it touched."""
        _rows(self._cursor, self._statements[statement], params)
        return int(self._cursor.rowcount)

    def script(self, text: str) -> None:
        """Several statements at once, without parameters: schema.sql, or a file of migrations/."""
        self._cursor.execute(text)

    def copy(self, table: str, columns: str, rows: Iterable[Sequence[object]]) -> None:
        """COPY rows of ints, bytes, bools, text and None into a table."""
        self.copy_lines(table, columns, map(copy_format.line, rows))

    def copy_lines(self, table: str, columns: str, lines: Iterable[str]) -> None:
        """COPY what is text already, as copy_text makes it: whole lines, one or more in each."""
        text = "".join(lines)
        if text:
            target = f"COPY {table} ({columns}) FROM STDIN"
            self._cursor.copy_expert(target, io.StringIO(text))


def _name(identifier: str) -> psycopg2.sql.Identifier:
    return psycopg2.sql.Identifier(identifier)


def _rows(cursor: Any, statement: Statement, params: dict[str, object]) -> list[Row]:
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    cursor.execute(statement.text, params)
    return cursor.fetchall() if cursor.description else []


def _prepare_text(
    cursor: Any, statement: Statement, params: Mapping[str, object], name: str
) -> bytes:
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    types = [statement.types[n] for n, v in params.items() if not statement.is_literal(n, v)]
    values: dict[str, object] = {}
    for name_, value in params.items():
        if statement.is_literal(name_, value):
            values[name_] = value
        else:
            number = sum(type(v) is AsIs for v in values.values()) + 1
            values[name_] = AsIs(f"${number}::{statement.types[name_]}")
    text: bytes = cursor.mogrify(statement.folded(params), values)
    places = f"({', '.join(types)})" if types else ""
    return f"PREPARE {name}{places} AS ".encode() + text
