"""The derived tables, and the differences of their rows from those that all blocks determine."""

from collections.abc import Mapping
from typing import Any

from scan import registry
from scan.cached_values import LazyMapping, LazySequence
from scan.database.transaction import Row, Transaction
from scan.indexer.hooks import Derived, DerivedTable

_Columns = Mapping[str, Any]

OF_EXTENSIONS: Mapping[str, DerivedTable] = LazyMapping(
    lambda: registry.merged(part.tables for part in registry.parts(Derived))
)
# The name of a row of each table, by its columns. <table>_expected() of sql/schema/expected.sql
# returns the rows that a table should have. In this order: holders and items first, then the
# counters of tokens and addresses.
DERIVED: Mapping[str, str] = LazyMapping(
    lambda: {
        "blocks": "{number}",
        "token_holders": "{holder} of {token_address}",
        "token_holder_ranges": "{token_address} range {balance_range}",
        "item_balances": "{holder} of the item first moved by transfer {first_ordinal}",
        "token_items": "{token_address}, first moved by transfer {first_ordinal}",
        "tokens": "{address}",
        "token_ranks": "{address} in lists",
        "dexes": "{name}",
        "pools": "{address}",
        "addresses": "{address}",
        "daily_stats": "{day}",
        "event_topics": "topic0 {topic0}",
        "list_counts": "{list} of {key}",
        "list_checkpoints": "{list} of {key} at {place}",
        "chain": "the chain",
        **{name: table.row_name for name, table in OF_EXTENSIONS.items()},
    }
)
# Tables that can be compared row by row where older rows are removed.
OF_KEPT_ROWS = LazySequence(
    lambda: (
        *("token_holder_ranges", "token_ranks", "list_checkpoints", "chain"),
        *(name for name, table in OF_EXTENSIONS.items() if table.kept_rows_check),
    )
)


def contradictions_of_kept_rows(tx: Transaction, first_block: int, span: str) -> list[Row]:
    """Return the broken rules where rows before `first_block` are removed: each rule, how many rows
    break it, and one of them. `span` has the remaining rows."""
    tx.execute("audit/copies_create")
    of_extensions = [table.kept_rows_check for table in OF_EXTENSIONS.values()]
    checks = ["audit/kept_rows_check", *filter(None, of_extensions)]
    return [row for name in checks for row in tx.rows(name, span=span, first_block=first_block)]


def differing_rows(tx: Transaction, table: str, most: int, first_block: int = 0) -> list[Row]:
    """Return at most `most` rows that are not as expected, as audit/derived_compare returns them.
    Rows before `first_block` are removed."""
    expect(tx, table, first_block)
    return tx.rows("audit/derived_compare", table=table, most=most)


def expect(tx: Transaction, table: str, first_block: int = 0) -> None:
    """Compute the rows that a table should have, for audit/derived_compare and derived_repair. Rows
    before `first_block` are removed."""
    if table == "list_checkpoints":
        tx.execute("audit/list_checkpoints_expect", first_block=first_block)
    else:
        tx.execute("audit/derived_expect", table=table)


def difference(
    table: str, row: _Columns, stored: _Columns | None, expected: _Columns | None
) -> str:
    """Return in words how a row differs; None is no row."""
    values = {
        name: value.replace("\\x", "0x").replace("+00:00", "Z") if isinstance(value, str) else value
        for name, value in row.items()
    }
    row_name = DERIVED[table].format_map(values)
    if stored is None or expected is None:
        return f"{row_name} {'is missing' if stored is None else 'should not exist'}"
    fields = (
        f"{name} is {stored.get(name)}, should be {value}"
        for name, value in expected.items()
        if stored.get(name) != value
    )
    return f"{row_name}: {'; '.join(fields)}"
