"""Every column of the schema is compared by `scan audit`, or says why not."""

import itertools
import re

from scan.audit import derived_tables
from scan.audit.block_comparison import ENTITIES, NodeComparison
from scan.database.connection import Database
from scan.ethereum.blocks import Uncle, Withdrawal
from scan.ethereum.client import Node
from scan.ethereum.forms.form import Credit
from scan.indexer.block_rows import TABLES
from tests.audit.columns import NOT_COMPARED
from tests.support.auditing import COUNT_HOLDERS, spoil
from tests.support.database import execute


def test_every_column_is_compared_or_says_why_not(copied):
    """One row of each table is changed in all its columns: each of them has to be named."""
    url = copied.database_url
    # What a row is found by: another one there is a row that is missing, and one too many.
    keys = {table: entity.key for table, entity in ENTITIES.items()} | {
        "addresses": ("address",),
        "blocks": ("number",),
        "daily_stats": ("day",),
        "dexes": ("name",),
        "event_topics": ("topic0",),
        "item_balances": ("holder", "first_ordinal"),
        "list_checkpoints": ("list", "key", "place"),
        "list_counts": ("list", "key"),
        "pool_candles": ("pool_address", "hour"),
        "pool_volumes": ("pool_address",),
        "token_holder_ranges": ("token_address", "balance_range"),
        "token_ranks": ("address",),
        "token_holders": ("holder", "token_address"),
        "token_items": ("token_address", "first_ordinal"),
        "tokens": ("address",),
    }
    schema = execute(
        url,
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND NOT EXISTS ("
        "SELECT FROM pg_class WHERE oid = to_regclass(table_name) AND relispartition)",
    )
    to_audit = [row for row in schema if not {f"{row[0]}.*", f"{row[0]}.{row[1]}"} & NOT_COMPARED]
    tables = {
        name: {
            column: kind
            for table, column, kind in to_audit
            if table == name and column not in keys.get(table, ())
        }
        for name, _, _ in to_audit
    }
    assert tables.pop("withdrawals").keys() < set(Withdrawal._fields)  # of which there are none
    assert tables.pop("credits").keys() < set(Credit._fields)  # nor of these
    # Tests of the extension have rows; what its record declares is compared.
    has_rows = "SELECT 1 FROM {} LIMIT 1"
    for table in [table for table in TABLES if not execute(url, has_rows.format(table))]:
        assert tables.pop(table).keys() < TABLES[table].columns.keys()
    assert tables.pop("list_counts") == {"count": "bigint"}
    assert tables.pop("uncles").keys() < set(Uncle._fields)
    assert tables.pop("log_emitters") == {}
    spoil(copied, COUNT_HOLDERS)  # as of large tokens, of which there are none
    steps = itertools.count(1, 3)
    another = {
        "boolean": "NOT coalesce({0}, false)",
        "bytea": "coalesce({0}, '') || int4send({1})",  # not two columns by the same bytes
        "text": "coalesce({0}, '') || {1}",
        "ARRAY": "array_append({0}, '\\x01')",
        "timestamp with time zone": "{0} + interval '1 s'",
    }
    for table, columns in tables.items():
        changes = ", ".join(
            # Numbers that grow by one and the same might still add up.
            f"{name} = {another.get(kind, 'coalesce({0}, 0) + {1}').format(name, next(steps))}"
            for name, kind in columns.items()
        )
        row = f"SELECT ctid FROM {table} ORDER BY ctid DESC LIMIT 1"  # noqa: S608
        spoil(copied, f"UPDATE {table} SET {changes} WHERE ctid = ({row})")  # noqa: S608
    database = Database(url, statement_timeout_ms=0)
    with database.transaction(snapshot=True) as tx:
        named = {
            (section, name)
            for section in derived_tables.DERIVED
            for _, stored, expected, _ in derived_tables.differing_rows(tx, section, 10**6)
            for name, value in (stored or {}).items()
            if value != (expected or {}).get(name)
        }
    comparison = NodeComparison(database, Node(copied.rpc_urls), copied)
    for first, last in comparison.ranges(0):
        for sentence in comparison.compare(first, last):
            for table, column in re.findall(r"^(\w+) .*?: (\w+) is ", sentence):
                named.add((table, column.replace("timestamp_s", "timestamp")))
    database.close()
    for table, columns in tables.items():
        for name in columns:
            assert (table, name) in named, (
                f"{table}.{name} is not audited: compare it with the node (ENTITIES in"
                f" block_comparison.py) or with what it derives from ({table}_expected() in"
                " sql/schema/expected.sql), or say in NOT_COMPARED why not"
            )
