"""A copy of a database whose long tables are divided into partitions."""

import re
import tempfile

from bench.databases import connected
from scan.database.connection import Database
from scan.database.migrations import expected_schema

TABLES = ("transactions", "token_transfers", "internal_transfers", "dex_trades", "logs")


def partition(plain: str, split: str, partitions: int) -> None:
    """A copy whose long tables have so many partitions, each of the same number of ordinals."""
    database = Database(split, statement_timeout_ms=0)
    text = expected_schema().schema
    for table in TABLES:
        text, count = re.subn(
            rf"(CREATE TABLE IF NOT EXISTS {table} \(\n.*?\n\));",
            r"\1 PARTITION BY RANGE (ordinal);",
            text,
            flags=re.S,
        )
        assert count == 1, table
    database.execute_script(text)
    database.close()
    with connected(plain) as source, connected(split) as target:
        for table in TABLES:
            source.execute(f"SELECT max(ordinal) + 1 FROM {table}")  # noqa: S608
            [rows] = source.fetchone()
            step = -(-rows // partitions)
            for first in range(0, rows, step):
                target.execute(
                    f"CREATE TABLE {table}_{first} PARTITION OF {table}"
                    f" FOR VALUES FROM ({first}) TO ({first + step})"
                )
        source.execute(
            "SELECT relname FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        for (table,) in source.fetchall():
            with tempfile.TemporaryFile() as rows:
                source.copy_expert(f"COPY {table} TO STDOUT (FORMAT binary)", rows)
                rows.seek(0)
                target.copy_expert(f"COPY {table} FROM STDIN (FORMAT binary)", rows)
        target.execute("VACUUM ANALYZE")
