"""Statements about the chain, whose responses may be cached until the index changes."""

from scan.database.connection import Row
from scan.http.services import services


def read_chain(statement: str, **params: object) -> Row:
    """The row of a prepared statement whose first column is index_version(); that column is left
    out. Such a statement always returns one row."""
    row = services().reads.prepared_row(statement, **params)
    assert row is not None
    return row[1:]
