"""A partition that a bulk backfill loads is replaced by a table of the same definition."""

import pytest

from scan.extensions.backfill.loading import KEPT_PARTS, rows_of_partition
from scan.indexer import partitions
from tests.support.database import execute

pytestmark = pytest.mark.thorough


def test_partitions_are_small_where_old_ones_are_dropped():
    most, chain = 10**8, 10**10
    assert rows_of_partition("logs", most, chain, keeps_all=True) == most
    assert rows_of_partition("logs", most, chain, keeps_all=False) == chain // KEPT_PARTS < most
    assert rows_of_partition("logs", most, 10**6, keeps_all=False) == partitions.LEAST_KEPT_ROWS
    assert rows_of_partition("logs", 1000, chain, keeps_all=False) == 1000
    assert rows_of_partition("block_bodies", most, chain, keeps_all=True) == most // 100


def test_a_loaded_partition_has_the_definition_of_the_empty_one(database, database_url):
    """Whatever the owner has made of the empty one meanwhile."""
    definitions = """
        SELECT p.oid::regclass::text, pg_get_expr(p.relpartbound, p.oid), p.reloptions, p.relowner,
            obj_description(p.oid, 'pg_class'),
            (SELECT array_agg(x.oid::regclass || pg_get_indexdef(x.oid) || h.inhparent::regclass
                    || i.indisvalid || coalesce(k.conname, '') ORDER BY x.relname)
                FROM pg_index i
                JOIN pg_class x ON x.oid = i.indexrelid
                JOIN pg_inherits h ON h.inhrelid = x.oid
                LEFT JOIN pg_constraint k ON k.conindid = x.oid
                WHERE i.indrelid = p.oid),
            (SELECT array_agg(k.conname || pg_get_constraintdef(k.oid) ORDER BY k.conname)
                FROM pg_constraint k WHERE k.conrelid = p.oid),
            (SELECT array_agg(concat_ws(' ', a.attname, a.atttypid::regtype, a.attnotnull,
                    a.attstorage, a.attstattarget, a.attcompression,
                    col_description(p.oid, a.attnum)) ORDER BY a.attnum)
                FROM pg_attribute a WHERE a.attrelid = p.oid AND a.attnum > 0)
        FROM pg_class p
        WHERE p.relispartition AND p.relkind = 'r' AND p.relname !~ '^token_holders_'
        ORDER BY 1
    """
    rows, begun, needed = 100, 250, 450
    for table in partitions.TABLES:
        for count in (begun, needed):  # as where a longer backfill is begun after another
            with database.transaction() as tx:
                partitions.make_empty(tx, table, rows, count)
    execute(database_url, "ALTER TABLE logs_100 SET (fillfactor = 90)")
    execute(database_url, "ALTER TABLE logs_100 OWNER TO pg_monitor")
    execute(database_url, "ALTER TABLE logs_100 ALTER COLUMN address SET STATISTICS 300")
    before = execute(database_url, definitions)
    assert len(before) == 5 * len(partitions.TABLES)
    for table in partitions.TABLES:
        listed = database.rows("bulk/partitions_list", table=table)
        bounds = [(first, first + rows) for first in range(0, needed, rows)]
        assert [(first, bound) for _, first, bound in listed] == bounds
        for name, first, bound in listed:
            with database.transaction() as tx:
                for statement, _ in tx.rows(
                    "bulk/partition_list_statements", partition=name, first=first, bound=bound
                ):
                    tx.script(statement)
    assert execute(database_url, definitions) == before
