"""What proves each value, in sql/README.md: `python -m tests.support.values_document`."""

from scan.ethereum.column_types import COMPUTED, SAID
from scan.indexer.block_check import SAID_WHERE, stored_values
from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "sql" / "README.md"
BEGIN = "<!-- generated from scan/indexer/block_check.py -->"


def whole():
    """With a line for each table: its columns that are computed, and those that are said, some of
    them in a case alone."""
    lines = ["| Table | Computed | Said |", "|---|---|---|"]
    for table, kinds in stored_values().items():
        computed = [name for name, kind in kinds.items() if kind is COMPUTED]
        said = [name for name, kind in kinds.items() if kind is SAID]
        where = {n: case for (t, n), case in SAID_WHERE.items() if t == table}
        cases = [
            f"{', '.join(n for n in where if where[n] == case)} where {case}"
            for case in dict.fromkeys(where.values())
        ]
        lines.append(
            f"| {table} | {', '.join(computed)} | {'; '.join([', '.join(said), *cases])} |"
        )
    return with_generated(DOCUMENT, BEGIN, "\n".join(lines).replace("| ; ", "| "))


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
