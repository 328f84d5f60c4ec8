"""The tables in docs/settings.md: `python -m tests.support.settings_document` writes them."""

import re
from typing import get_args

from scan import registry
from scan.setting_kinds import variables
from scan.settings import declarations
from tests.support.serving import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
GROUPS = get_args(registry.Group)
BEGIN, END = "<!-- generated from scan/settings.py and scan/extensions/ -->", "<!-- end -->"


def whole():
    head, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    listed = [variable for declared in declarations() for _, variable in variables(declared)]
    settings = "".join(f"| `{v.name}` | {v.default} | {v.meaning} |\n" for v in listed)
    tables = "".join(
        f"| {group.capitalize()} | Adds |\n|---|---|\n{_rows(group)}\n" for group in GROUPS
    )
    return (
        f"{head}{BEGIN}\n\n| Variable | Default | Meaning |\n|---|---|---|\n{settings}\n"
        f"## Extensions\n\n{tables}{END}{rest.partition(END)[2]}"
    )


def _rows(group):
    extensions = sorted(registry.installed().items())
    return "".join(f"| {name} | {e.adds} |\n" for name, e in extensions if e.group == group)


def taken_away():
    """The extensions that the document lists and the tree lacks."""
    listed = re.findall(r"^\| (\w+) \|", DOCUMENT.read_text(encoding="utf-8"), re.M)
    heads = {"Variable", *(group.capitalize() for group in GROUPS)}
    return {*listed} - registry.installed().keys() - heads


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
