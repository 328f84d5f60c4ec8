"""Which extensions a file of tests uses: tests of one whose folder is deleted are not collected."""

import ast
import re
from functools import cache

from scan import registry
from tests.support.serving import ROOT

FOLDER = ROOT / "tests" / "extensions"
_NAMED = re.compile(r"\b(scan|tests)\.extensions(?:\.([\w.]+)| import (\w+))")


@cache
def used_by(path):
    """The extensions that a file names, and those of the files of tests that it imports."""
    used = set()
    for package, dotted, imported in _NAMED.findall(path.read_text(encoding="utf-8")):
        names = (dotted or imported).split(".")
        file = FOLDER.joinpath(*names).with_suffix(".py")
        is_file_of_tests = package == "tests" and file.exists()
        if is_file_of_tests and file != path:
            used |= used_by(file)
        if len(names) > 1 or not is_file_of_tests:
            used.add(names[0])
    return frozenset(used)


def own_extension(path):
    """The extension whose tests a file or folder has; None for those of several."""
    names = path.relative_to(FOLDER).parts
    return names[0] if len(names) > 1 or path.is_dir() else None


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
