"""`scan audit --from --to`: rows of blocks, a thousand blocks and one snapshot at a time.

No snapshot is held longer than a statement, so that nothing keeps vacuum from its work; an audit
that was interrupted goes on with the block that its last line names.
"""

import time
from collections.abc import Callable

from scan.audit.node_comparison import NodeComparison
from scan.database.connection import Database

RANGE_BLOCKS = 1000
SHOW_EVERY_S = 5.0


def audit(
    database: Database,
    comparison: NodeComparison | None,
    first: int | None,
    last: int | None,
    write_line: Callable[[str], None],
) -> int:
    """How many differences there are; `comparison` also compares the blocks with the node."""
    oldest, newest = database.row("audit/blocks_get_ends") or (0, -1)
    first = oldest if first is None else max(first, oldest)
    last = newest if last is None else min(last, newest)
    differences = 0
    shown_at = time.monotonic()
    for start in range(first, last + 1, RANGE_BLOCKS):
        end = min(start + RANGE_BLOCKS - 1, last)
        for rule, count, example in database.rows(
            "audit/rows_check_range", block_from=start, block_to=end
        ):
            differences += count
            write_line(f"  {rule}: {count}, such as {example}")
        for line in comparison.compare(start, end) if comparison else ():
            differences += 1
            write_line(f"  {line}")
        if time.monotonic() - shown_at > SHOW_EVERY_S and end < last:
            shown_at = time.monotonic()
            write_line(
                f"blocks {first} to {end}: {differences} differ; go on with --from {end + 1}"
            )
    write_line(f"rows of blocks {first} to {last} contradict each other: {differences}")
    return differences
