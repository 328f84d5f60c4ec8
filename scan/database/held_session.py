"""A session of its own that holds what a statement has locked, however the process ends."""

from contextlib import suppress
from typing import Any

import psycopg2

from scan.database import statements, transaction
from scan.database.connection import Database


class HeldSession:
    """A connection on which nothing but one statement runs, which locks until close()."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None

    def take(self, statement: str, **params: object) -> transaction.Row:
        """Return the one row of the statement. Raises Unavailable."""
        self._connection = self._database.new_connection()
        with self._database.deadline(self._connection), self._connection.cursor() as cursor:
            [row] = transaction.run(cursor, statements.read_statement(statement), params)
        return row

    def close(self) -> None:
        """Give the locks back; closing it again has no effect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg2.Error):
                connection.close()
