"""Which extensions a file of tests uses: tests of one whose folder is deleted are not collected."""

import ast
import re
from functools import cache

from scan import registry
from tests.support.serving import ROOT

FOLDER = ROOT / "tests" / "extensions"  # those of several; one has its own in its folder
EXTENSIONS = ROOT / "scan" / "extensions"
_NAMED = re.compile(r"\b(scan|tests)\.extensions(?:\.([\w.]+)| import (\w+))")


def files_of_tests():
    """The names of all files of tests, below the root."""
    folders = ROOT / "tests", ROOT / "scan" / "extensions"
    found = [path for folder in folders for path in folder.rglob("test_*.py")]
    names = (p.relative_to(ROOT).as_posix() for p in found if "node_modules" not in p.parts)
    return sorted(names)


@cache
def used_by(path):
    """The extensions that a file names, and those of the files of tests that it imports."""
    used = set()
    for package, dotted, imported in _NAMED.findall(path.read_text(encoding="utf-8")):
        names = (dotted or imported).split(".")
        file = (FOLDER if package == "tests" else EXTENSIONS).joinpath(*names).with_suffix(".py")
        is_file_of_tests = file.exists() and (package == "tests" or names[1:2] == ["tests"])
        if is_file_of_tests and file != path:
            used |= used_by(file)
        if package == "scan" or not is_file_of_tests:
            used.add(names[0])
    return frozenset(used)


def imported(path):
    """The modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_there(module):
    """Whether a module is not of an extension that is deleted."""
    names = module.split(".")
    return names[:2] != ["scan", "extensions"] or names[2] in registry.installed()
