"""The table in docs/settings.md: `python -m tests.support.settings_document` writes it."""

from scan.setting_kinds import variables
from scan.settings import declarations
from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
BEGIN = "<!-- generated from scan/settings.py and scan/extensions/ -->"


def whole():
    listed = [variable for declared in declarations() for _, variable in variables(declared)]
    rows = [f"| `{v.name}` | {v.default} | {v.meaning} |" for v in listed]
    head = ["| Variable | Default | Meaning |", "|---|---|---|"]
    return with_generated(DOCUMENT, BEGIN, "\n".join([*head, *rows]))


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
