"""The parts in scan/extensions/README.md: `python -m tests.support.hooks_document` lists them."""

import ast

from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "scan" / "extensions" / "README.md"
BEGIN = "<!-- generated from scan/settings.py and all hooks.py -->"


def parts(file):
    """The types of parts that a file declares, each with the modules of its parts."""
    return {
        node.name: [keyword.value.value for keyword in node.keywords]
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and "Part" in map(ast.unparse, node.bases)
    }


def of_extensions():
    return sorted((ROOT / "scan/extensions").rglob("hooks.py"))


def whole():
    """With a line for each file that declares types of parts: these, with their modules."""
    of_rooms = sorted((ROOT / "scan").glob("*/hooks.py"))
    lines = []
    for file in (ROOT / "scan/settings.py", *of_rooms, *of_extensions()):
        types = (
            f"`{name}` ({', '.join(f'{module}.py' for module in modules)})"
            for name, modules in parts(file).items()
        )
        if listed := ", ".join(types):
            lines.append(f"- {file.relative_to(ROOT).as_posix()}: {listed}")
    return with_generated(DOCUMENT, BEGIN, "\n".join(lines))


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
