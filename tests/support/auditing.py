"""`scan audit` run in this process, and statements that spoil what it reads."""

from argparse import Namespace
from datetime import date, datetime

import psycopg2

from scan.commands import audit
from tests.support.database import execute

EXACT, DIFFERS = audit.EXACT, audit.DIFFERS  # what run() returns
# By range of balance, as of large tokens.
COUNT_HOLDERS = """
    INSERT INTO token_holder_ranges (token_address, balance_range, holder_count)
    SELECT token_address, holder_range(balance, holder), count(*)
    FROM token_holders WHERE balance > 0 GROUP BY 1, 2
"""


def run(settings, **options):
    chosen = {"repair": False, "node": False, "blocks": 0, "digest": False}
    chosen |= {"first": None, "last": None, **options}
    return audit.audit(settings, Namespace(**chosen))


def spoil(settings, statement):
    connection = psycopg2.connect(settings.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0
    connection.close()


def stored(settings, table, key, columns):
    read = f"SELECT {', '.join((*key, *columns))} FROM {table}"  # noqa: S608
    rows = [[_plain(value) for value in row] for row in execute(settings.database_url, read)]
    by_key = {
        row[0] if len(key) == 1 else tuple(row[: len(key)]): dict(
            zip(columns, row[len(key) :], strict=True)
        )
        for row in rows
    }
    assert len(by_key) == len(rows), f"{table} has two rows of one key"
    return by_key


def _plain(value):
    if isinstance(value, memoryview):
        return "0x" + bytes(value).hex()
    if isinstance(value, datetime):
        return int(value.timestamp())
    return value.isoformat() if isinstance(value, date) else value


def require_same(actual, expected, *, null_is_zero=False):
    assert actual.keys() == expected.keys()
    for key, row in expected.items():
        values = {n: v or 0 if null_is_zero else v for n, v in actual[key].items()}
        assert values == {name: row.get(name, 0) for name in values}, key
