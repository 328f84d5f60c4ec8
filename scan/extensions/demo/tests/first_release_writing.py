"""Writes the database and the chain of tests/support/first_release.py."""

import gzip
import io

import orjson
import psycopg2

from demo.record import Recorder, indexed, only_changes
from scan.database.migrations import read_schema
from scan.ethereum.served_chain import NO_BLOCK
from scan.indexer.partitions import TABLES as LONG_TABLES
from tests.support.anvil import Anvil
from tests.support.first_release import CHAIN, DATABASE, END_OF_ROWS
from tests.support.scenario import play

ROUNDS = 30
# What is of the server and of the process that indexed, not of the chain.
LEFT_OUT = ("schema_state", "migrations", "indexer_status")
TABLES = """
    SELECT relname, (
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
        FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '')
    FROM pg_class c
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
        AND relname <> ALL (%s)
    ORDER BY relname
"""
PARTITIONS = """
    SELECT format('CREATE TABLE %%s PARTITION OF %%s %%s;', p.oid::regclass, i.inhparent::regclass,
        pg_get_expr(p.relpartbound, p.oid))
    FROM pg_inherits i
    JOIN pg_class p ON p.oid = i.inhrelid AND p.relkind = 'r'
    WHERE i.inhparent::regclass::text = ANY (%s)
    ORDER BY p.oid
"""
SEQUENCES = """
    SELECT format('SELECT setval(%L, %s);', schemaname || '.' || sequencename, last_value)
    FROM pg_sequences
    WHERE last_value IS NOT NULL
    ORDER BY sequencename
"""


def dump(url):
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute(PARTITIONS, [list(LONG_TABLES)])
        partitions = "\n".join(row[0] for row in cursor.fetchall())
        parts = [f"{read_schema()}\n{partitions}\n"]
        cursor.execute(TABLES, [list(LEFT_OUT)])
        for table, columns in cursor.fetchall():
            rows = io.StringIO()
            cursor.copy_expert(f"COPY (SELECT {columns} FROM {table}) TO STDOUT", rows)  # noqa: S608
            if rows.getvalue():
                parts.append(f"COPY {table} ({columns}) FROM STDIN\n{rows.getvalue()}")
        cursor.execute(SEQUENCES)
        parts.append("\n".join(row[0] for row in cursor.fetchall()) + "\nSELECT;\n")
    connection.close()
    return END_OF_ROWS.join(parts)


def main():
    with Anvil() as anvil:
        play(anvil, rounds=ROUNDS, poison=False)
        recorder = Recorder(anvil.url)
        with indexed(recorder, anvil.head()) as url:
            DATABASE.write_bytes(gzip.compress(dump(url).encode(), compresslevel=9, mtime=0))
        rows = only_changes(row for row in recorder.answers.rows() if NO_BLOCK not in row["params"])
        lines = sorted(orjson.dumps(row) for row in rows)
        CHAIN.write_bytes(gzip.compress(b"\n".join(lines) + b"\n", compresslevel=9, mtime=0))
    print(f"{CHAIN.stat().st_size} and {DATABASE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
