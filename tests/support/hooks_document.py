"""The parts in scan/extensions/README.md: `python -m tests.support.hooks_document` lists them."""

import ast
from collections import defaultdict, namedtuple

from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "scan" / "extensions" / "README.md"
BEGIN = "<!-- generated from scan/settings.py and all hooks.py -->"


class Contract(namedtuple("Contract", "name declared_in module chapter hooks")):
    """The type of a part: where it is declared, the module that binds HOOKS to an object of it, and
    the names of its hooks."""


def contracts():
    of_extensions = sorted((ROOT / "scan/extensions").rglob("hooks.py"))
    of_rooms = sorted((ROOT / "scan").glob("*/hooks.py"))
    files = [ROOT / "scan/settings.py", *of_rooms, *of_extensions]
    return [contract for file in files for contract in _contracts(file)]


def _contracts(file):
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and "Part" in map(ast.unparse, node.bases):
            modules = [keyword.value.value for keyword in node.keywords]
            module, chapter = [*modules, ""][:2]
            declared_in = file.relative_to(ROOT).as_posix()
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            hooks = tuple(field.target.id for field in fields)
            yield Contract(node.name, declared_in, module, chapter, hooks)


def generated():
    """A line for each file that declares types of parts: these, with the modules of their parts."""
    types = defaultdict(list)
    for contract in contracts():
        modules = ", ".join(f"{name}.py" for name in contract[2:4] if name)
        types[contract.declared_in].append(f"`{contract.name}` ({modules})")
    return "\n".join(f"- {file}: {', '.join(named)}" for file, named in types.items())


def whole():
    return with_generated(DOCUMENT, BEGIN, generated())


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
