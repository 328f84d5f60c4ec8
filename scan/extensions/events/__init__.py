"""Events of chosen contracts as tables: their logs are kept whatever SCAN_LOGS is, and each event
has a view of the schema `events`, with a column for each argument.

Input: `scan events add`, and contracts of the builds in SCAN_ARTIFACTS. Output: rows of
contract_events, views, and EventTables for interfaces. Start with event_tables.py (from an ABI to
names and columns), then following.py (what is followed, and filled) and queries.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "events of your contracts as tables (scan events)",
    "contracts",
    needs=("decoding",),
    commands={"events": "follow contracts, whose events become tables"},
)
