"""A copy of a database whose long tables are divided into partitions."""

import tempfile

from bench.databases import connected
from scan.database.connection import Database
from scan.database.migrations import expected_schema

TABLES = ("transactions", "token_transfers", "internal_transfers", "dex_trades", "logs")


def partition(plain, split, partitions):
    """A copy whose long tables have so many partitions, each of the same number of ordinals."""
    database = Database(split, statement_timeout_ms=0)
    database.execute_script(expected_schema().schema)
    database.close()
    with connected(plain) as source, connected(split) as target:
        for table in TABLES:
            source.execute(f"SELECT max(ordinal) + 1 FROM {table}")  # noqa: S608
            [rows] = source.fetchone()
            step = -(-rows // partitions)
            for first in range(0, rows, step):
                target.execute("SELECT add_partition(%s, %s, %s)", (table, first, first + step))
        source.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace = 'public'::regnamespace"
        )
        for (table,) in source.fetchall():
            with tempfile.TemporaryFile() as rows:
                copy = f"COPY (SELECT * FROM {table}) TO STDOUT (FORMAT binary)"  # noqa: S608
                source.copy_expert(copy, rows)
                rows.seek(0)
                target.copy_expert(f"COPY {table} FROM STDIN (FORMAT binary)", rows)
        target.execute("VACUUM ANALYZE")
