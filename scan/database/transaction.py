"""Runs statements by name, and COPY, in an open transaction."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from scan.database import copy_format
from scan.database.statements import Statement, StatementError

Row = tuple[Any, ...]


class Transaction:
    """An open transaction, which Database.transaction() begins and ends."""

    def __init__(self, cursor: Any, statements: Mapping[str, Statement]) -> None:
        self._cursor = cursor
        self._statements = statements

    def value(self, statement: str, **params: object) -> Any:
        rows = self.rows(statement, **params)
        return rows[0][0] if rows else None

    def rows(self, statement: str, **params: object) -> list[Row]:
        return run(self._cursor, self._statements[statement], params)

    def row(self, statement: str, **params: object) -> Row | None:
        rows = self.rows(statement, **params)
        return rows[0] if rows else None

    def execute(self, statement: str, **params: object) -> int:
        """Run a statement; return how many rows it touched."""
        run(self._cursor, self._statements[statement], params)
        return int(self._cursor.rowcount)

    def script(self, text: str) -> bool:
        """Run several statements without parameters, as of schema.sql or a file of migrations/;
        return whether the last one returned a row."""
        self._cursor.execute(text)
        return self._cursor.description is not None and self._cursor.rowcount > 0

    def copy_records(
        self, table: str, columns: Sequence[str], records: Iterable[Mapping[str, object]]
    ) -> None:
        """COPY the columns' values, by name: ints, bytes, bools, text and None."""
        lines = (copy_format.line([record[name] for name in columns]) for record in records)
        self.copy_lines(table, columns, lines)

    def copy_lines(self, table: str, columns: Iterable[str], lines: Iterable[str]) -> None:
        """COPY what copy_format has made: whole lines, one or more in each text."""
        text = "".join(lines)
        if text:
            target = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            self._cursor.copy_expert(target, io.StringIO(text))

    def copy_csv(self, table: str, columns: Iterable[str], file: IO[bytes], read_bytes: int) -> int:
        """COPY from a file of PostgreSQL's CSV, `read_bytes` at once; return how many rows it
        had."""
        target = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT csv)"
        self._cursor.copy_expert(target, file, read_bytes)
        return int(self._cursor.rowcount)


def run(cursor: Any, statement: Statement, params: Mapping[str, object]) -> list[Row]:
    """Return the rows of a statement; raises StatementError where it takes other parameters."""
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    cursor.execute(statement.text, params)
    return cursor.fetchall() if cursor.description else []
