"""Open transactions, which run statements by name, and PostgreSQL's COPY, with the text that it
reads, made from values."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from psycopg2 import sql

from scan.database.statements import Prepared, Statement, read_statement

Row = tuple[Any, ...]
READ_BYTES = 256 * 1024  # of what is copied, at once


class Readable(Protocol):
    """A file that COPY reads."""

    def read(self, size: int, /) -> str | bytes: ...


class Writable(Protocol):
    """A file that COPY writes."""

    def write(self, data: bytes, /) -> object: ...


class Transaction:
    """An open transaction, which Database.transaction() begins and ends."""

    def __init__(
        self,
        cursor: Any,
        prepare: Callable[[Any, Statement, Mapping[str, object]], Prepared] | None = None,
    ) -> None:
        """With `prepare`, statements that can be prepared are."""
        self._cursor = cursor
        self._prepare = prepare
        self.is_prepared = prepare is not None
        self._deferred: list[bytes] = []

    def value(self, statement: str, **params: object) -> Any:
        rows = self.rows(statement, **params)
        return rows[0][0] if rows else None

    def row(self, statement: str, **params: object) -> Row | None:
        rows = self.rows(statement, **params)
        return rows[0] if rows else None

    def rows(self, statement: str, **params: object) -> list[Row]:
        return self._send(self._text(statement, params))

    def execute(self, statement: str, **params: object) -> int:
        """Run a statement; return how many rows it returned or changed."""
        self._send(self._text(statement, params))
        return int(self._cursor.rowcount)

    def defer(self, statement: str, **params: object) -> None:
        """Run a statement whose result nobody needs together with the next one, or with the commit:
        each that is sent by itself waits for the server to be scheduled, and back."""
        text = self._text(statement, params)  # which may send, and so begin another list
        self._deferred.append(text)

    def commit(self) -> None:
        self._send(b"COMMIT")

    def _text(self, name: str, params: Mapping[str, object]) -> bytes:
        """Return a statement with its values. Raises StatementError for other parameters."""
        statement = read_statement(name)
        query: str = statement.text
        values: object = params
        if self._prepare is not None and statement.literals is not None:
            prepared = self._prepare(self._cursor, statement, params)
            query, values = prepared.execute, prepared.values(params)
        else:
            statement.require(params)
        text: bytes = self._cursor.mogrify(query, values)
        return text

    def _send(self, *statements: bytes) -> list[Row]:
        """Run the deferred statements and these, and return the rows of the last one."""
        texts, self._deferred = [*self._deferred, *statements], []
        if texts:
            self._cursor.execute(b";\n".join(texts))
        return self._cursor.fetchall() if texts and self._cursor.description else []

    def script(self, text: str) -> None:
        """Run several statements without parameters, such as a migration."""
        self._send()
        self._cursor.execute(text)

    def copy(self, table: str, columns: Iterable[str], file: Readable, options: str) -> int:
        """COPY from a file in the format of `options`. Return how many rows it had."""
        self._send()
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN ({options})"
        self._cursor.copy_expert(statement, file, READ_BYTES)
        return int(self._cursor.rowcount)

    def copy_out(self, table: str, file: Writable, statement: str | None = None) -> int:
        """COPY the rows of a table to a file, each as a line of JSON with its `table` and its
        `row`; those of a `statement` without parameters that returns JSON, where it is given.
        Return how many rows it has."""
        self._send()
        rows = sql.SQL("(SELECT to_json(t) FROM {} t)").format(sql.Identifier(table))
        if statement is not None:
            rows = sql.SQL("({})").format(sql.SQL(read_statement(statement).text))
        # Between its values, JSON may have ends of lines and tabs; a string has no such characters.
        lines = """COPY (
            SELECT format('{{"table":%s,"row":%s}}', to_json({}::text),
                translate(r.line::text, E'\n\r\t', '   '))
            FROM {} AS r (line)) TO STDOUT ({})"""
        command = sql.SQL(lines).format(sql.Literal(table), rows, sql.SQL(JSON_LINES))
        self._cursor.copy_expert(command, file)
        return int(self._cursor.rowcount)


# COPY of JSON as it is, a line each: JSON has none of these characters.
JSON_LINES = r"FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02', NULL E'\x03'"


def run(cursor: Any, statement: Statement, params: Mapping[str, object]) -> list[Row]:
    """Run a statement, and return its rows. Raises StatementError for other parameters."""
    statement.require(params)
    cursor.execute(statement.text, params)
    return cursor.fetchall() if cursor.description else []


NULL = "\\N"
# Of COPY's binary format: a signature, flags and the length of an extension; no further row.
BINARY_START, BINARY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_records(
    tx: Transaction, table: str, columns: Sequence[str], records: Iterable[Mapping[str, object]]
) -> None:
    """COPY records, with the columns' values by name: ints, bytes, bools, text and None."""
    copy_lines(tx, table, columns, (line([record[name] for name in columns]) for record in records))


def copy_lines(tx: Transaction, table: str, columns: Iterable[str], lines: Iterable[str]) -> None:
    """COPY lines that line() has made. A text of `lines` may have several."""
    # Bytes are passed on as they are; a StringIO would keep four bytes for each character.
    text = "".join(lines).encode()
    if text:
        tx.copy(table, columns, io.BytesIO(text), "ENCODING 'UTF8'")


def copy_binary(tx: Transaction, table: str, columns: Iterable[str], rows: Iterable[bytes]) -> None:
    """COPY rows that binary_row() has made."""
    content = b"".join(rows)
    if content:
        file = io.BytesIO(BINARY_START + content + BINARY_END)
        tx.copy(table, columns, file, "FORMAT binary")


def line(row: Iterable[object]) -> str:
    """Return the line, with its end, of a row of ints, bytes, bools, text, tuples of bytes and
    None."""
    # The most frequent types of a transaction come first, and without a call: a sixth faster.
    texts = [
        f"\\\\x{value.hex()}"
        if value.__class__ is bytes
        else NULL
        if value is None
        else str(value)
        if value.__class__ is int
        else _TEXT.get(value.__class__, str)(value)
        for value in row
    ]
    return "\t".join(texts) + "\n"


def binary_row(row: Sequence[int | bytes]) -> bytes:
    """Return a row of bigints, from 0 on, and bytes, which the server takes as they are."""
    values = [value.to_bytes(8) if isinstance(value, int) else value for value in row]
    fields = [len(value).to_bytes(4) + value for value in values]
    return len(row).to_bytes(2) + b"".join(fields)


# The text of values by their class. All others, such as numbers, have Python's own text.
_TEXT: dict[type, Callable[..., str]] = {
    tuple: lambda hashes: "{" + ",".join(f'"\\\\\\\\x{hash_.hex()}"' for hash_ in hashes) + "}",
    str: lambda text: text.translate(_ESCAPES),
}
