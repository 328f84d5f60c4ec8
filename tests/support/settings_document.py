"""The tables in docs/settings.md: `python -m tests.support.settings_document` writes them."""

import re

from scan import registry
from scan.setting_kinds import variables
from scan.settings import declarations
from tests.support.serving import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
BEGIN, END = "<!-- generated from scan/settings.py and scan/extensions/ -->", "<!-- end -->"


def whole():
    head, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    listed = [variable for declared in declarations() for _, variable in variables(declared)]
    settings = "".join(f"| `{v.name}` | {v.default} | {v.meaning} |\n" for v in listed)
    added = ((name, extension.adds) for name, extension in sorted(registry.installed().items()))
    extensions = "".join(f"| {name} | {adds} |\n" for name, adds in added)
    return (
        f"{head}{BEGIN}\n\n| Variable | Default | Meaning |\n|---|---|---|\n{settings}\n"
        f"## Extensions\n\n| Extension | Adds |\n|---|---|\n{extensions}\n{END}"
        f"{rest.partition(END)[2]}"
    )


def taken_away():
    """The extensions that the document lists and the tree lacks."""
    listed = re.findall(r"^\| (\w+) \|", DOCUMENT.read_text(encoding="utf-8"), re.M)
    return {*listed} - registry.installed().keys() - {"Variable", "Extension"}


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
