"""`python -m tests.support.later_columns backfill fields`: `scan` where migrations added columns.

These stand for what a later release adds: they are of every type, and older rows lack them.
"""

import sys

from scan.commands import main
from scan.indexer import field_backfill

LATER = field_backfill.LaterColumns(
    blocks=("size", "gas_limit", "miner"),
    transactions=("nonce", "gas_price", "method", "blob_versioned_hashes", "contract_address"),
)
# What a migration that adds a column leaves in older rows.
EMPTY = "".join(
    f"ALTER TABLE {table} ALTER COLUMN {name} DROP NOT NULL;" + fill
    for table, number in (("blocks", "number"), ("transactions", "block_number"))
    for name in getattr(LATER, table)
    for fill in (f"UPDATE {table} SET {name} = NULL WHERE {number} <= 340;",)  # noqa: S608
)

if __name__ == "__main__":
    field_backfill.LATER = LATER
    sys.exit(main())
