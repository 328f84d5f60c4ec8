"""docs/tables.md, made of the comments in schema.sql: `python -m tests.support.tables_document`."""

import re
from pathlib import Path

from scan.database.migrations import read_schema

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "tables.md"
BEGIN, END = "<!-- generated from schema.sql -->", "<!-- end -->"
# Of the service's users, or of the indexer alone.
LEFT_OUT = frozenset(
    (
        *("migrations", "schema_state", "indexer_status", "orphaned_blocks", "rejected_emitters"),
        *("label_state", "list_checkpoints", "api_keys", "webhooks", "webhook_secrets"),
        *("delivery_queues", "event_bodies", "deliveries", "verification_jobs", "signatures"),
        *("transaction_failures", "log_emitters", "bulk_backfill"),
    )
)
_TABLE = re.compile(
    r"((?:^-- [^\n]*\n)*)^CREATE TABLE IF NOT EXISTS (\w+) \(\n(.*?)\n\)", re.M | re.S
)
_COLUMN = re.compile(r"^    ([a-z_0-9]+) ([a-z]+(?:\([0-9, ]+\))?(?:\[\])?)(.*?)(?:-- ?(.*))?$")
_VIEW = re.compile(r"^CREATE OR REPLACE VIEW v1\.(\w+) AS\nSELECT (.*?)\nFROM ", re.M | re.S)


def generated(schema: str) -> str:
    parts = ["## Views\n"]
    for name, columns in _VIEW.findall(schema):
        names = re.sub(r"\s+", " ", ", ".join(_names(columns)))
        parts.append(f"**v1.{name}**: {names}\n")
    parts.append("## Tables\n")
    for comment, name, body in _TABLE.findall(schema):
        if name not in LEFT_OUT:
            parts.append(_table(comment, name, body))
    return "\n".join(parts)


def _names(columns: str) -> list[str]:
    """Of a list of expressions, the names; commas in parentheses separate nothing."""
    depth, expressions = 0, [""]
    for character in columns:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            expressions.append("")
        else:
            expressions[-1] += character
    return [f"`{re.split(r'[ .]', text.strip())[-1]}`" for text in expressions]


def _table(comment: str, name: str, body: str) -> str:
    lines = [f"### {name}\n"]
    text = " ".join(line.removeprefix("--").strip() for line in comment.splitlines())
    if text:
        lines.append(f"{text}\n")
    lines += ["| Column | Type | |", "|---|---|---|"]
    for column, kind, rest, note in _columns(body):
        required = "" if "NOT NULL" in rest or "PRIMARY KEY" in rest else "null allowed"
        remark = "; ".join(part for part in (note.strip(), required) if part)
        lines.append(f"| `{column}` | {kind} | {remark.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _columns(body: str) -> list[tuple[str, str, str, str]]:
    """Name, type, the rest of the definition and its comment, which may go on below it."""
    columns: list[tuple[str, str, str, str]] = []
    for line in body.splitlines():
        more = re.match(r"^\s{12,}-- ?(.*)$", line)
        if more and columns:
            *definition, note = columns[-1]
            columns[-1] = (*definition, f"{note} {more[1]}")  # type: ignore[assignment]
        elif match := _COLUMN.match(line):
            columns.append((match[1], match[2], match[3], match[4] or ""))
    return columns


def whole() -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    schema = read_schema()
    return f"{head}{BEGIN}\n\n{generated(schema)}\n{END}{tail}"


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
