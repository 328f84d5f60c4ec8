"""The table in docs/settings.md, from the settings: `python -m tests.support.settings_document`."""

from scan.environment import variables
from scan.settings import declarations
from tests.support.serving import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
BEGIN, END = "<!-- generated from scan/settings.py -->", "<!-- end -->"


def whole() -> str:
    head, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    listed = [variable for declared in declarations() for _, variable in variables(declared)]
    rows = "\n".join(f"| `{v.name}` | {v.default} | {v.meaning} |" for v in listed)
    table = f"| Variable | Default | Meaning |\n|---|---|---|\n{rows}"
    return f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
