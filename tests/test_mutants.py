"""What `make mutants` changes, which tests it runs, and what it says: see tests/mutants/."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.mutants import __main__ as command
from tests.mutants import drawing, selection

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("place", "text", "changed"),
    [
        ("a.py", 'x = a < 1  # <\ny = "<"\n', ["a <= 1", "a < 2"]),
        ("a.py", "x = not a and é + b\n", ["=  a and", "not a or é", "é - b"]),
        ("a.py", "def f(*, a: int = -1) -> None: ...\n", ["a: int = +1", "a: int = -2"]),
        (
            "a.sql",
            "SELECT max(a) FROM t WHERE b <> '=' AND c = %(d)s -- =",
            ["min(a)", "b = '=' AND", "'=' OR c", "c <> %(d)s -- ="],
        ),
    ],
)
def test_one_operator_word_or_number_is_changed_at_a_time(place, text, changed):
    found = [mutant.text for mutant in drawing.mutants(place, text)]
    assert len(found) == len(changed)
    assert all(part in mutant for part, mutant in zip(changed, found, strict=True))


@pytest.mark.parametrize(
    ("text", "is_tuning"),
    [
        ("MAX_ROWS = 1\n", True),
        ("_WAIT_S = 2\n", True),
        ("f(timeout_ms=1)\n", True),
        ("HASH_BYTES = 3\n", False),
        ("rows = 1\n", False),
        ("MAX_ROWS = not rows\n", False),
    ],
)
def test_bounds_and_times_are_tuning(text, is_tuning):
    assert {mutant.is_tuning for mutant in drawing.mutants("a.py", text)} == {is_tuning}


FUNCTIONS = """
@decorated
def outer(
    a=1,
):
    def inner():
        return [
            x for x in a
        ]
    return inner
LIMIT = 5
f = lambda: 1
"""


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (2, ["outer"]),
        (4, ["outer"]),
        (8, ["inner", "outer"]),
        (10, ["outer"]),
        (11, []),
        (12, ["<lambda>"]),
    ],
)
def test_a_line_is_in_the_innermost_function(line, names):
    functions = selection.functions_at(compile(FUNCTIONS, "a.py", "exec"), line)
    assert [function.co_name for function in functions] == names


MODULE = """
LIMIT = 5
def entered(): return 1
def unread(): return 3
def unreached(): return 4
def started(): return 5
def run(database, statement): return statement
"""
TESTS = """
import subprocess, sys
import pytest
from scan import a
@pytest.fixture(scope="module")
def made(): return a.entered()
def test_of_a_fixture(made): assert made == 1
def test_limit(): assert a.unread() and a.LIMIT == 5
def test_in_another_process():
    program = "from scan import a; assert a.started() == 5"
    subprocess.run([sys.executable, "-c", program], check=True)
def test_of_a_statement():
    statement = a.run(None, "queries/rows_list")
    assert open(f"sql/{statement}.sql").read() == "SELECT min(1)"
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A project with a module, a statement, and their tests."""
    for folder in ("scan", "sql/queries", "tests/support/node/node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(Path(command.__file__).parent, tmp_path / "tests" / "mutants")
    for package in ("scan", "tests"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "scan" / "a.py").write_text(MODULE)
    (tmp_path / "sql" / "queries" / "rows_list.sql").write_text("SELECT min(1)")
    (tmp_path / "tests" / "test_a.py").write_text(TESTS)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.long
def test_mutants_are_killed_by_tests_that_reach_them_in_any_process(tree, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mutants", "--seed", "606"])
    status = command.main()
    first, number_of_tests, *lines, total = capsys.readouterr().out.splitlines()
    assert (status, first, number_of_tests) == (1, "seed 606, 7 mutants", "4 tests")
    assert total == "5 killed, 1 survived, 1 unreached"
    outcomes = {
        line.partition("   in")[0]: why.strip()
        for line, why in zip(lines[::2], lines[1::2], strict=True)
    }
    failed = "FAILED tests/test_a.py::test_"
    assert {line: why.partition(" - ")[0] for line, why in outcomes.items()} == {
        "killed: scan/a.py:2: 5 -> 6": f"{failed}limit",
        "killed: scan/a.py:3: 1 -> 2": f"{failed}of_a_fixture",
        "survived: scan/a.py:4: 3 -> 4": "1 tests of 1 files pass, 0 more reach it",
        "unreached: scan/a.py:5: 4 -> 5": "no test is known to reach it",
        "killed: scan/a.py:6: 5 -> 6": f"{failed}in_another_process",
        "killed: sql/queries/rows_list.sql:1: min -> max": f"{failed}of_a_statement",
        "killed: sql/queries/rows_list.sql:1: 1 -> 2": f"{failed}of_a_statement",
    }


@pytest.mark.long
def test_a_test_that_hangs_kills_a_mutant(tree, monkeypatch, capsys):
    (tree / "scan" / "a.py").write_text("def slow(): return 2\n")
    (tree / "tests" / "test_a.py").write_text(
        "import time\nfrom scan import a\ndef test_slow(): time.sleep(600 * (a.slow() - 2))\n"
    )
    monkeypatch.setattr(command, "START_S", 3.0)
    monkeypatch.setattr(sys, "argv", ["mutants", "--only", "py$"])
    assert command.main() == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["    one of 1 tests hangs", "1 killed"]
