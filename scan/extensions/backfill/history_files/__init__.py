"""History that nodes no longer keep, from public files: era1 and ere, 8,192 blocks each.

Input: a folder, or the URL of one, with such files. Output: blocks, proven by their hashes, for
`scan backfill chain --history`; and files of what is indexed (`scan export-history`).
Start with history_source.py (blocks for a backfill), then file_sources.py (where files come from),
e2store.py (a file's entries) and raw_block.py (a block's bytes, what proves them, and the block
that the indexer's rows are made of).
"""
