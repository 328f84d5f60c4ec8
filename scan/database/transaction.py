"""Open transactions, which run statements by name, and COPY."""

from collections.abc import Mapping
from typing import Any, Protocol

from scan.database.statements import Statement, StatementError

Row = tuple[Any, ...]


class Readable(Protocol):
    """A file that COPY reads."""

    def read(self, size: int, /) -> str | bytes: ...


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
        """Run a statement; return how many rows it returned or changed."""
        run(self._cursor, self._statements[statement], params)
        return int(self._cursor.rowcount)

    def script(self, text: str) -> None:
        """Run several statements without parameters, such as a migration."""
        self._cursor.execute(text)

    def copy(self, target: str, file: Readable, read_bytes: int = 8192) -> int:
        """Run a COPY from a file, as copy_rows.py makes it. Return how many rows the file had."""
        self._cursor.copy_expert(target, file, read_bytes)
        return int(self._cursor.rowcount)


def run(cursor: Any, statement: Statement, params: Mapping[str, object]) -> list[Row]:
    """Run a statement, and return its rows. Raises StatementError for other parameters."""
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    cursor.execute(statement.text, params)
    return cursor.fetchall() if cursor.description else []
