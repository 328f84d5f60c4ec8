"""The indexing of a whole chain at once: blocks as Parquet files, loaded and derived in bulk.

It needs the packages of the extra scan[bulk], which no other package imports.
Input: blocks from one or several nodes. Output: files of rows, and the tables as
the indexer makes them.
Start with chain_backfill.py (the stages), then spool.py, block_columns.py (rows of files),
contracts.py, derivation.py and loading.py. What indexed blocks lack is stored later by
trace_backfill.py and body_backfill.py.

History that nodes no longer keep comes from public era1 and ere files, 8,192 blocks each, in a
folder or at its URL: history_source.py (blocks, proven by their hashes), file_sources.py (where
files come from), e2store.py (a file's entries), raw_block.py (a block's bytes, what proves them,
and the block that rows are made of). history_export.py writes such files of what is indexed.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "a whole chain at once (scan backfill chain), from the node or from era1 and ere files",
    "operating",
    needs=("block_records", "exports"),
    commands={"backfill": "index a chain in bulk"},
)
