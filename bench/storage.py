"""Bytes a row, with its indexes and its share of what is kept for each address."""

from typing import Any

TABLES = (
    "blocks",
    "transactions",
    "token_transfers",
    "dex_trades",
    "log_emitters",
    "addresses",
    "list_checkpoints",
    "token_holders",
    "tokens",
)
# pg_partition_tree() has no row for a table that is not partitioned.
SIZE = """
SELECT (pg_total_relation_size(t.relid)
    + coalesce(sum(pg_total_relation_size(i.inhrelid)), 0))::bigint
FROM (SELECT %s::regclass AS relid) t LEFT JOIN pg_inherits i ON i.inhparent = t.relid
GROUP BY t.relid
"""


def measure(cursor: Any) -> dict[str, Any]:
    """Rows and bytes by table; bytes by transaction and by token transfer.

    addresses and list_checkpoints are shared by transactions, transfers and trades alike, in
    proportion to their rows; blocks belong to transactions, holders to transfers. The target names
    the shares for a transaction, for a transfer its row and indexes alone.
    """
    sizes, rows = {}, {}
    for table in TABLES:
        cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
        rows[table] = cursor.fetchone()[0]
        cursor.execute(SIZE, [table])
        sizes[table] = cursor.fetchone()[0]
    shared = sizes["addresses"] + sizes["list_checkpoints"]
    share = shared / (rows["transactions"] + rows["token_transfers"] + rows["dex_trades"])
    transaction = (sizes["transactions"] + sizes["blocks"]) / rows["transactions"]
    cursor.execute("SELECT pg_database_size(current_database())")
    return {
        "tables": {t: {"rows": rows[t], "bytes": sizes[t]} for t in TABLES},
        "database_bytes": cursor.fetchone()[0],
        "bytes_per_transaction": transaction + share,
        "of_which_its_own_row_and_indexes": sizes["transactions"] / rows["transactions"],
        "of_which_per_address_rows": share,
        "bytes_per_token_transfer": sizes["token_transfers"] / rows["token_transfers"],
        "beside_it_holders": sizes["token_holders"] / rows["token_transfers"],
        "beside_it_per_address_rows": share,
    }
