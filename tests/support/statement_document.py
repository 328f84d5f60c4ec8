"""The list that sql/README.md shows: `python -m tests.support.statement_document` writes it."""

from scan.database.lists import TABLE
from scan.database.statements import FOLDER, texts
from tests.support.documents import with_generated

DOCUMENT = FOLDER / "README.md"
BEGIN = "<!-- generated from sql/lists.toml and sql/queries/ -->"
SHOWN = "transactions_by_from"


def whole():
    entry = f"[lists.{SHOWN}]"
    declared = entry + TABLE.read_text(encoding="utf-8").partition(entry)[2].partition("\n\n")[0]
    statement = texts()[f"queries/{SHOWN}_list"]()
    text = f"```toml\n{declared}\n```\n\nRendered:\n\n```sql\n{statement}```"
    return with_generated(DOCUMENT, BEGIN, text)


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
