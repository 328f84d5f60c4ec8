"""The plan of a backfill, which the database keeps, and the errors that stop a backfill."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scan.database.connection import Database
from scan.extensions.backfill.range_files import BLOCKS_OF_FILE, Range, split

MAX_SHOWN = 5  # differences


class CannotBackfill(Exception):
    """The backfill cannot run; the message says what has to change first."""


class CannotBegin(CannotBackfill):
    """No backfill was begun: the indexer may index block after block."""


class Forked(Exception):
    """The node has another chain than the files."""


class Differs(Exception):
    """Rows of these blocks differ from the node's blocks now."""

    def __init__(self, differences: Sequence[tuple[str, int, int]]) -> None:
        shown = (line for line, _, _ in differences[:MAX_SHOWN])
        super().__init__(f"not as the node has it: {'; '.join(shown)}")
        self.blocks = {(first, last) for _, first, last in differences}


class Plan(NamedTuple):
    """The options and the state of a backfill; the row of bulk_backfill."""

    folder: Path
    first_block: int
    last_block: int
    range_blocks: int
    stage: str
    inspected_to: int | None
    loaded: Sequence[str]

    @property
    def ranges(self) -> list[Range]:
        """The ranges of its files. None has blocks of two files of history, so that what links
        these files is between two ranges."""
        first, last = self.first_block, self.last_block
        starts = range(first - first % BLOCKS_OF_FILE, last + 1, BLOCKS_OF_FILE)
        spans = [(max(start, first), min(start + BLOCKS_OF_FILE - 1, last)) for start in starts]
        return [blocks for span in spans for blocks in split(*span, self.range_blocks)]


def read_plan(database: Database) -> Plan | None:
    """Return the plan of the unfinished backfill; None where there is none."""
    row = database.row("bulk/state_get")
    return None if row is None else Plan(Path(row[0]), *row[1:])


def require_plan(database: Database) -> Plan:
    plan = read_plan(database)
    if plan is None:
        raise CannotBackfill("no bulk backfill was begun")
    return plan
