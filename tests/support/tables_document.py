"""The views in sql/README.md, as the schema has them: `python -m tests.support.tables_document`."""

import re

from scan.database.migrations import read_schema
from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "sql" / "README.md"
GUIDE = ROOT / "docs" / "sql.md"  # with queries of them
BEGIN = "<!-- generated from the views of sql_access -->"
# Of the service's users, or of the indexer alone.
LEFT_OUT = frozenset(
    "migrations schema_state indexer_status orphaned_blocks rejected_emitters label_state"
    " list_checkpoints api_keys webhooks webhook_secrets delivery_queues event_bodies"
    " deliveries verification_jobs signatures transaction_failures log_emitters"
    " bulk_backfill trace_backfill table_rebuilds".split()
)
_VIEW = re.compile(r"^CREATE OR REPLACE VIEW v1\.(\w+) AS\nSELECT (.*?)\nFROM ", re.M | re.S)


def whole():
    """With a line for each view, which has its columns in their order."""
    lines = (
        f"- `v1.{name}`: {', '.join(names_of(columns))}"
        for name, columns in _VIEW.findall(read_schema())
    )
    return with_generated(DOCUMENT, BEGIN, "\n".join(lines))


def names_of(columns):
    """Of a list of expressions, the names; commas in parentheses separate nothing."""
    depth, expressions = 0, [""]
    for character in columns:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            expressions.append("")
        else:
            expressions[-1] += character
    return [re.split(r"[ .]", " ".join(text.split()))[-1] for text in expressions]


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
