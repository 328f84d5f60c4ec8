"""A database of release 1.0, from which every later migration starts, and the chain of its rows.

`python -m scan.extensions.demo.tests.first_release_writing` writes both, in about a minute. Do so
when a table changes before 1.0 is released and no migration leads to it, and never after.
"""

import gzip
import io
import re
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from scan.database import connection, migrations
from scan.indexer.partitions import TABLES
from tests.support.database import execute, name_in

CHAIN = Path(__file__).with_name("first_release.chain.jsonl.gz")
DATABASE = Path(__file__).with_name("first_release.sql.gz")
END_OF_ROWS = "\\.\n"


def load(url):
    """Make the tables and rows in an empty database, as 1.0 left them."""
    schema, *tables, sequences = gzip.decompress(DATABASE.read_bytes()).decode().split(END_OF_ROWS)
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute(schema)
        cursor.execute("SET LOCAL session_replication_role = replica")  # triggers made rows, too
        for table in tables:
            copy, rows = table.split("\n", 1)
            cursor.copy_expert(copy, io.StringIO(rows))
        cursor.execute(sequences)
    connection.close()


@pytest.fixture(scope="module")
def first_template(postgres):
    """The name of a database as release 1.0 left it."""
    with postgres.cloned("template0") as url:
        load(url)
        yield name_in(url)


@pytest.fixture
def first_url(clone, first_template):
    return clone(first_template)


SHAPE = Path(__file__).with_name("shape.sql").read_text()
PARTITION = re.compile(rf"({'|'.join(TABLES)})_\d")


def shape(url):
    """Columns in any order, indexes, constraints, functions and how tables are stored, but for
    partitions, which follow from rows."""
    return {row for row in execute(url, SHAPE) if not PARTITION.match(str(row[1]))}


def bring_up(url, release=None):
    with closing(connection.Database(url, statement_timeout_ms=0)) as database:
        return migrations.bring_up(database, release or migrations.expected_schema())


def release_with(text):
    """The next version, with one more migration."""
    release = migrations.expected_schema()
    added = migrations.Migration(release.newest + 1, f"{release.newest + 1:04d}_next.sql", text)
    return release._replace(migrations=(*release.migrations, added))


def require_present_shape(url, expected):
    """It may have more functions: those that the previous release calls."""
    present = shape(url)
    more = {part for part in present - expected if part[0] != "function"}
    assert (expected - present, more) == (set(), set()), (
        "a database of 1.0 that is brought up to date differs from a new one: add a file to"
        " migrations/; before 1.0 is released, `python -m"
        " scan.extensions.demo.tests.first_release_writing` writes the database of 1.0 anew"
    )
