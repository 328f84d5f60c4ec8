"""The parts in scan/extensions/README.md: `python -m tests.support.hooks_document` lists them."""

import ast

from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "scan" / "extensions" / "README.md"
BEGIN = "<!-- generated from scan/settings.py and all hooks.py -->"


def generated():
    """A line for each file that declares types of parts: these, with the modules of their parts."""
    of_extensions = sorted((ROOT / "scan/extensions").rglob("hooks.py"))
    of_rooms = sorted((ROOT / "scan").glob("*/hooks.py"))
    lines = []
    for file in (ROOT / "scan/settings.py", *of_rooms, *of_extensions):
        types = []
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and "Part" in map(ast.unparse, node.bases):
                modules = ", ".join(f"{keyword.value.value}.py" for keyword in node.keywords)
                types.append(f"`{node.name}` ({modules})")
        if types:
            lines.append(f"- {file.relative_to(ROOT).as_posix()}: {', '.join(types)}")
    return "\n".join(lines)


def whole():
    return with_generated(DOCUMENT, BEGIN, generated())


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
