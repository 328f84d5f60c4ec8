"""The parts in scan/extensions/README.md: `python -m tests.support.hooks_document` lists them."""

import ast
from collections import defaultdict, namedtuple

from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "scan" / "extensions" / "README.md"
BEGIN = "<!-- generated from scan/settings.py and all hooks.py -->"


Hook = namedtuple("Hook", "name type meaning")


class Contract(namedtuple("Contract", "name declared_in module chapter meaning hooks")):
    """The type of a part: where it is declared, the module that binds HOOKS to an object of it."""


def contracts():
    of_extensions = sorted((ROOT / "scan/extensions").rglob("hooks.py"))
    of_rooms = sorted((ROOT / "scan").glob("*/hooks.py"))
    files = [ROOT / "scan/settings.py", *of_rooms, *of_extensions]
    return [contract for file in files for contract in _contracts(file)]


def readers_of_modules():
    """The extension that alone imports a module in which another has hooks for it, by its name."""
    declared = ((contract, contract.declared_in.split("/")) for contract in contracts())
    return {contract.module: parts[2] for contract, parts in declared if parts[1] == "extensions"}


def _contracts(file):
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and "Part" in map(ast.unparse, node.bases):
            modules = [keyword.value.value for keyword in node.keywords]
            module, chapter = [*modules, ""][:2]
            declared_in = file.relative_to(ROOT).as_posix()
            meaning = _line(ast.get_docstring(node))
            yield Contract(node.name, declared_in, module, chapter, meaning, (*_hooks(node),))


def _hooks(contract):
    """The fields, each with the text below it."""
    for field, below in zip(contract.body, [*contract.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(below, ast.Expr), (
                f"{contract.name}.{field.target} says not what it is"
            )
            yield Hook(
                field.target.id, ast.unparse(field.annotation), _line(ast.literal_eval(below.value))
            )


def _line(text):
    return " ".join((text or "").split())


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
