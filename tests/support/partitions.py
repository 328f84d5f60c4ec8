"""A copy of a database whose long tables are divided into partitions."""

import tempfile

from bench.databases import connected
from scan.database.connection import Database
from scan.database.migrations import expected_schema

TABLES = ("transactions", "token_transfers", "internal_transfers", "dex_trades", "logs")


def partition(plain, split, partitions):
    """A copy whose long tables have so many partitions, each of the same number of ordinals; whole
    blocks are in one."""
    database = Database(split, statement_timeout_ms=0)
    database.execute_script(expected_schema().schema)
    database.close()
    with connected(plain) as source, connected(split) as target:
        for table in TABLES:
            source.execute(f"SELECT coalesce(max(ordinal) + 1, 1) FROM {table}")  # noqa: S608
            [rows] = source.fetchone()
            step = -(-rows // partitions)
            for first in range(0, rows, step):
                target.execute("SELECT add_partition(%s, %s, %s)", (table, first, first + step))
        target.execute("SELECT add_partition('block_bodies', 0, %s)", (2**40,))
        source.execute(
            "SELECT relname, string_agg(quote_ident(attname), ', ' ORDER BY attnum)"
            " FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0"
            " AND NOT attisdropped AND attgenerated = ''"
            " WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace = 'public'::regnamespace"
            " GROUP BY relname"
        )
        # Rows that triggers have written are copied, too.
        target.execute("SET session_replication_role = replica")
        for table, columns in source.fetchall():
            with tempfile.TemporaryFile() as rows:
                copy = f"COPY (SELECT {columns} FROM {table}) TO STDOUT (FORMAT binary)"  # noqa: S608
                source.copy_expert(copy, rows)
                rows.seek(0)
                target.copy_expert(f"COPY {table} ({columns}) FROM STDIN (FORMAT binary)", rows)
        target.execute("VACUUM ANALYZE")


PARTS = "SELECT count(*)::int FROM pg_inherits WHERE inhparent = to_regclass(%s)"


def lists(first, scenario):
    people = [*scenario.stage.people[:2], "0x" + 40 * "0"]
    tokens = [t["address"] for t in first.get("/api/v1/tokens?limit=10").json["tokens"]]
    own = ("history", "internal", "items", "tokens", "trades", "transactions", "transfers")
    of_all = """
        blocks transactions token-transfers internal-transfers dex-trades logs
        tokens pools addresses contracts
    """
    return [
        *of_all.split(),
        *(f"addresses/{a}/{name}" for a in (*people, *tokens[:2]) for name in own),
        *(f"tokens/{a}/{name}" for a in tokens for name in ("holders", "items", "transfers")),
    ]
