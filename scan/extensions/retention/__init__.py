"""Old rows are removed where SCAN_KEEP_DAYS bounds what is kept: maintenance.py. Those of some
addresses stay: keep_command.py.

Input: the newest block, between commits of the indexer. Output: the block at which lists begin, and
tables without the rows before it.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "rows of old blocks removed (SCAN_KEEP_DAYS, `scan keep`)",
    "operating",
    commands={"keep": "keep the rows of addresses"},
)
