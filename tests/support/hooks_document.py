"""The hooks in scan/extensions/README.md: `python -m tests.support.hooks_document` writes them."""

import ast
from collections import namedtuple

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
    return {contract.module: place[2] for contract, place in declared if place[1] == "extensions"}


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


def _bases():
    """The classes by which services are known where they are not made: name, module, meaning."""
    extensions = ROOT / "scan/extensions"
    for file in sorted((*extensions.rglob("api.py"), *extensions.rglob("views.py"))):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        modules = {
            name.name: node.module
            for node in body
            if isinstance(node, ast.ImportFrom) and node.module
            for name in node.names
        }
        made = [
            call
            for node in body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOOKS"
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] == "Service"
        ]
        keywords = [keyword for call in made for keyword in call.keywords]
        for base in (ast.unparse(k.value) for k in keywords if k.arg == "base"):
            package, _, base = base.rpartition(".")  # of a module that is imported, or empty
            module = f"{modules[package]}.{package}" if package else modules[base]
            declared_in = (ROOT / module.replace(".", "/")).with_suffix(".py")
            [declared] = [
                node
                for node in ast.parse(declared_in.read_text(encoding="utf-8")).body
                if isinstance(node, ast.ClassDef) and node.name == base
            ]
            yield base, module, _line(ast.get_docstring(declared))


def generated():
    """A section for each part, with a line for each hook."""
    sections = []
    for contract in contracts():
        reader = contract.declared_in.removesuffix("/hooks.py").removesuffix(".py")
        whose = f", for `{reader.removeprefix('scan/').removeprefix('extensions/')}`"
        sections += [
            "",
            f"### {' or '.join(f'{m}.py' for m in contract[2:4] if m)}: `{contract.name}`{whose}",
            "",
            contract.meaning,
        ]
        if contract.hooks:
            sections += ["", "| Hook | Type | What it is |", "|---|---|---|"]
            sections += [
                f"| `{h.name}` | `{h.type.replace('|', chr(92) + '|')}` | {h.meaning} |"
                for h in contract.hooks
            ]
        if contract.name == "Service":
            sections += ["", "| Base | Module | What it is |", "|---|---|---|"]
            sections += [f"| `{name}` | `{module}` | {text} |" for name, module, text in _bases()]
    return "\n".join(sections)


def whole():
    return with_generated(DOCUMENT, BEGIN, generated()[1:])


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
