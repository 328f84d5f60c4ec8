"""A database of release 1.0, from which every later migration starts, and the chain of its rows.

`python -m scan.extensions.demo.tests.first_release_writing` writes both, in about a minute. Do so
when a table changes before 1.0 is released, and never after.
"""

import gzip
import io
from pathlib import Path

import psycopg2

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
