"""Statements about the chain, whose responses may be cached until the index changes."""

from flask import request

from scan.database.transaction import Row
from scan.http.exchange import exchange_of
from scan.http.requests import client
from scan.http.services import services

PLACE_WAIT_S = 0.25


def read_chain(statement: str, *, planned_per_call: bool = False, **params: object) -> Row:
    """The row of a statement whose first column is index_version(), without that column.

    Such a statement always returns one row. The version is recorded for the response cache. The
    statement is prepared unless it is `planned_per_call`, as where the best index depends on the
    values; few of those run at once, one for each client, and Unavailable is raised beyond.
    """
    reads = services().reads
    if planned_per_call:
        with services().unbounded_statements.place(client(), wait_s=PLACE_WAIT_S):
            row = reads.row(statement, **params)
    else:
        row = reads.prepared_row(statement, **params)
    assert row is not None
    exchange_of(request.environ).index_versions.add(row[0])
    return row[1:]


def do_not_cache() -> None:
    """The response depends on more than the index."""
    exchange_of(request.environ).is_cacheable = False
