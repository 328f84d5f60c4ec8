"""A test says what it checks: it decides nothing, and reaches for nothing that the code keeps to
itself. Expected values are data, cases parameters, and rows are chosen before they are compared.
"""

import ast

import pytest

from tests.support import extension_tests
from tests.support.serving import ROOT

pytestmark = [pytest.mark.check, pytest.mark.thorough]

# Of all tests. These figures go only downwards.
AT_MOST = {"conditions": 0, "private names": 15, "replaced names": 144}
OF_NAMEDTUPLES = {"_asdict", "_fields", "_make", "_replace"}


def test_tests_are_plain():
    faults = {kind: [] for kind in AT_MOST}
    for file in extension_tests.files_of_tests():
        for kind, line in faults_of((ROOT / file).read_text(encoding="utf-8")):
            faults[kind].append(f"{file}:{line}")
    more = {kind: lines for kind, lines in faults.items() if len(lines) > AT_MOST[kind]}
    assert not more, more


def test_nothing_is_imported_from_a_file_of_tests():
    """What a second file needs is of `tests/support`, or of a module of its folder."""
    modules = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "scan" / "extensions").rglob("*.py")]
    imports = {
        path.relative_to(ROOT).as_posix(): name
        for path in modules
        if "node_modules" not in path.parts
        for name in extension_tests.imported(path)
        if name.split(".")[0] in ("tests", "scan") and ".test_" in name
    }
    assert imports == {}


def faults_of(text):
    """Their kinds and lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if "monkeypatch.setattr(" in line:
            yield "replaced names", number
    for test in ast.parse(text).body:
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
            for node in of_body(test):
                match node:
                    case ast.If() | ast.Try(handlers=[_, *_]):
                        yield "conditions", node.lineno
                    case ast.Attribute(attr=name) if name[0] == "_" != name[1]:
                        if name not in OF_NAMEDTUPLES:
                            yield "private names", node.lineno


def of_body(function):
    """The nodes of a test without those of functions in it, which are fakes and callbacks."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node
            yield from of_body(node)
