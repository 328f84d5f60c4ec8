"""The extensions in their README: `python -m tests.support.extensions_document` lists them."""

import re
from typing import get_args

from scan import registry
from tests.support.documents import END, with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "scan" / "extensions" / "README.md"
BEGIN = "<!-- generated from all EXTENSION -->"
GROUPS = get_args(registry.Group)


def whole():
    """With a list for each group, which has a line for each extension."""
    extensions = sorted(registry.installed().items())
    lists = []
    for group in GROUPS:
        rows = [f"- `{name}`: {e.adds}" for name, e in extensions if e.group == group]
        lists.append("\n".join([f"{group.capitalize()}:", "", *rows]))
    return with_generated(DOCUMENT, BEGIN, "\n\n".join(lists))


def taken_away():
    """The extensions that the document lists and the tree lacks."""
    listed = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    return {*re.findall(r"^- `(\w+)`: ", listed, re.M)} - registry.installed().keys()


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
