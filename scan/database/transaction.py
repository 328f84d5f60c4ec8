"""Open transactions, which run statements by name, and COPY."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from scan.database.statements import Prepared, Statement, StatementError

Row = tuple[Any, ...]


class Readable(Protocol):
    """A file that COPY reads."""

    def read(self, size: int, /) -> str | bytes: ...


class Transaction:
    """An open transaction, which Database.transaction() begins and ends."""

    def __init__(
        self,
        cursor: Any,
        statements: Mapping[str, Statement],
        prepare: Callable[[Any, Statement, Mapping[str, object]], Prepared] | None = None,
    ) -> None:
        """With `prepare`, statements that can be prepared are."""
        self._cursor = cursor
        self._statements = statements
        self._prepare = prepare
        self._deferred: list[bytes] = []

    @property
    def is_prepared(self) -> bool:
        """Whether statements that can be prepared are."""
        return self._prepare is not None

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
        text = self._text(statement, params)
        self._deferred.append(text)

    def commit(self) -> None:
        self._send(b"COMMIT")

    def _text(self, name: str, params: Mapping[str, object]) -> bytes:
        """Return a statement with its values. Raises StatementError for other parameters."""
        statement = self._statements[name]
        query: str = statement.text
        values: object = params
        if self._prepare is not None and statement.literals is not None:
            prepared = self._prepare(self._cursor, statement, params)
            query, values = prepared.execute, [*map(params.__getitem__, prepared.positional)]
        else:
            _require_params(statement, params)
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

    def copy(self, target: str, file: Readable, read_bytes: int = 8192) -> int:
        """Run a COPY from a file, as copy_rows.py makes it. Return how many rows the file had."""
        self._send()
        self._cursor.copy_expert(target, file, read_bytes)
        return int(self._cursor.rowcount)


def run(cursor: Any, statement: Statement, params: Mapping[str, object]) -> list[Row]:
    """Run a statement, and return its rows. Raises StatementError for other parameters."""
    _require_params(statement, params)
    cursor.execute(statement.text, params)
    return cursor.fetchall() if cursor.description else []


def _require_params(statement: Statement, params: Mapping[str, object]) -> None:
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
