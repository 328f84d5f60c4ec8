"""What `make mutants` changes, which tests it runs, and what it says: see tests/mutants.py."""

import pytest

from tests import mutants

pytestmark = pytest.mark.check


def mutants_of(path, text):
    results = (mutants.mutated(path, text, *change) for change in mutants.changes(path, text))
    return [mutant for mutant in results if mutant]


MUTANTS = [
    ("a.py", 'x = a < 1  # <\ny = "<"\n', ["a <= 1", "a < 2"]),
    ("a.py", "x = not a and é + b\n", ["=  a and", "not a or é", "é - b"]),
    ("a.py", "def f(*, a: int = -1) -> None: ...\n", ["a: int = +1", "a: int = -2"]),
    (
        "a.sql",
        "SELECT max(a) FROM t WHERE b <> '=' AND c = %(d)s -- =",
        ["min(a)", "b = '=' AND", "'=' OR c", "c <> %(d)s -- ="],
    ),
    ("a.sql.j2", "{%- if a -%}SELECT 1 {{- b - 1 -}}", ["SELECT 2", "b + 1", "b - 2"]),
]


@pytest.mark.parametrize(("path", "text", "changed"), MUTANTS)
def test_one_operator_word_or_number_is_changed_at_a_time(path, text, changed):
    results = mutants_of(path, text)
    texts = [mutants.with_all(text, [mutant]) for mutant in results]
    assert all(part in other for part, other in zip(changed, texts, strict=True))


TUNING = [
    ("MAX_ROWS = 1\n", True),
    ("_WAIT_S = 2\n", True),
    ("f(timeout_ms=1)\n", True),
    ("HASH_BYTES = 3\n", False),
    ("rows = 1\n", False),
    ("MAX_ROWS = not rows\n", False),
]


@pytest.mark.parametrize(("text", "is_tuning"), TUNING)
def test_bounds_and_times_are_tuning(text, is_tuning):
    assert {mutant.is_tuning for mutant in mutants_of("a.py", text)} == {is_tuning}


MODULE = """
LIMIT = 5
def entered(): return 1
def unread(): return 3
"""
TESTS = """
import pytest
from scan.api import a
def test_limit(): assert a.LIMIT == 5 and a.unread()
@pytest.MARK.thorough
def test_entered(): assert a.entered() == 1
def test_of_a_statement(): assert open("sql/api/rows_list.sql").read() == "SELECT min(1)"
"""
LAYERS = "| `scan/api/` | requests | tests/api |\n"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A project with a module, a statement, and their tests."""
    for folder in ("scan/api", "sql/api", "tests/api", "tests/support/node/node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    for package in ("scan", "scan/api", "tests", "tests/api"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "scan" / "api" / "a.py").write_text(MODULE)
    (tmp_path / "sql" / "api" / "rows_list.sql").write_text("SELECT min(1)")
    (tmp_path / "tests" / "api" / "test_a.py").write_text(TESTS.replace("MARK", "mark"))
    (tmp_path / "CONTRIBUTING.md").write_text(LAYERS)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.long
def test_mutants_are_killed_by_the_tests_of_their_layer(tree, capsys):
    arguments = ["--seed", "606", "--processes", "1", "--results", str(tree / "results")]
    status = mutants.main(arguments)
    first, *lines = capsys.readouterr().out.splitlines()
    assert (status, first) == (1, "seed 606, 5 mutants")
    rows = zip(lines[:14:2], lines[1:14:2], strict=True)
    outcomes = [(line.partition("   in")[0], why.strip().partition(" - ")[0]) for line, why in rows]
    failed = "FAILED tests/api/test_a.py::test_"
    assert sorted(outcomes[:5]) == [
        ("killed by make test: scan/api/a.py:2: 5 -> 6", f"{failed}limit"),
        ("killed by make test: sql/api/rows_list.sql:1: 1 -> 2", f"{failed}of_a_statement"),
        ("killed by make test: sql/api/rows_list.sql:1: min -> max", f"{failed}of_a_statement"),
        ("lives: scan/api/a.py:3: 1 -> 2", "all tests pass"),
        ("lives: scan/api/a.py:4: 3 -> 4", "all tests pass"),
    ]
    assert outcomes[5:] == [
        ("killed by make test-all: scan/api/a.py:3: 1 -> 2", f"{failed}entered"),
        ("survived: scan/api/a.py:4: 3 -> 4", "all tests pass"),
    ]
    tally, share, let_live = lines[14:]
    assert tally == "3 killed by make test, 1 killed by make test-all, 1 survived"
    assert share == "make test kills 75% of what make test-all kills; it lets live"
    assert let_live == "    scan/api/a.py:3: 1 -> 2   in: def entered(): return 1"
    # A second run tries none of these again.
    mutants.main(arguments)
    assert capsys.readouterr().out.splitlines() == [first, tally, share, let_live]


@pytest.mark.long
def test_far_tests_kill_each_of_several_mutants(tree, capsys):
    """Tests that are not among the nearest ones, which fail of one mutant each, or without any."""
    (tree / "tests" / "api" / "test_a.py").write_text("def test_nothing(): pass\n")
    (tree / "tests" / "test_far.py").write_text(
        "from importlib import import_module\n"
        "a = import_module('scan.api' + '.a')\n"
        "def test_limit(): assert a.LIMIT == 5\n"
        "def test_limit_again(): assert a.LIMIT < 6\n"
        "def test_unread(): assert a.unread() == 3\n"
        "def test_always(): assert not a.entered()\n"
    )
    assert mutants.main(["--only", "py$", "--processes", "1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    outcomes = {line.partition("   in")[0] for line in lines if not line.startswith(" ")}
    assert outcomes >= {
        "killed by make test: scan/api/a.py:2: 5 -> 6",
        "survived: scan/api/a.py:3: 1 -> 2",
        "killed by make test: scan/api/a.py:4: 3 -> 4",
        "2 killed by make test, 1 survived",
    }


@pytest.mark.long
def test_what_several_mutants_do_together_kills_none(tree, capsys):
    (tree / "tests" / "api" / "test_a.py").write_text(
        "from scan.api import a\ndef test_sum(): assert a.LIMIT + a.unread() < 10\n"
    )
    assert mutants.main(["--only", "py$", "--processes", "1"]) == 1
    printed = capsys.readouterr().out
    assert "tests/api/test_a.py::test_sum fails of several mutants at once\n" in printed
    assert printed.endswith("\n3 survived\n")


@pytest.mark.long
def test_a_test_that_hangs_kills_a_mutant(tree, capsys):
    (tree / "scan" / "api" / "a.py").write_text("def slow(): return 2\n")
    (tree / "tests" / "api" / "test_a.py").write_text(
        "import time\nfrom scan.api import a\ndef test_slow(): time.sleep(600 * (a.slow() - 2))\n"
    )
    assert mutants.main(["--only", "py$", "--hangs", "5"]) == 0
    printed = capsys.readouterr().out
    assert "\n    by time: FAILED tests/api/test_a.py::test_slow" in printed
    assert "1 killed by make test\n" in printed


@pytest.mark.long
def test_a_test_that_hangs_without_a_mutant_kills_none(tree, capsys):
    (tree / "tests" / "api" / "test_a.py").write_text(
        "import time\ndef test_slow(): time.sleep(600)\ndef test_quick(): pass\n"
    )
    assert mutants.main(["--only", "sql$", "--count", "1", "--hangs", "5"]) == 1
    printed = capsys.readouterr().out
    assert "\n    tests/api/test_a.py::test_slow fails without it\n" in printed
    assert "\ntests/api/test_a.py::test_slow fails without them\n" in printed
    assert "\n    all tests pass\n1 survived\n" in printed


@pytest.mark.long
def test_tests_that_are_not_through_in_time_say_nothing_of_a_mutant(tree, capsys):
    (tree / "tests" / "api" / "test_a.py").write_text(
        "import time\ndef test_slow(): time.sleep(600)\n"
    )
    arguments = ["--only", "sql$", "--count", "1", "--alone", "5", "--bound", "40"]
    assert mutants.main(arguments) == 1
    expected = "\n    not all tests have run, then all tests pass\n1 survived\n"
    assert expected in capsys.readouterr().out


NAMED = [
    ("scan/api/a.py", "from scan.api import b, a\n", True),
    ("scan/api/a.py", "import scan.api.a\n", True),
    ("scan/api/a.py", "from scan.api import ab\n", False),
    ("scan/extensions/names/sql/queries/a.sql", "scan/extensions/names", True),
    ("scan/extensions/names/a.py", "from scan.extensions.names.b import c\n", True),
    ("scan/extensions/names/a.py", "import scan.extensions.namesakes\n", False),
    ("sql/queries/a_get.sql.j2", '"queries/a_get"', True),
    ("sql/queries/a_get.sql.j2", '"queries/a_get_b"', False),
]


@pytest.mark.parametrize(("path", "text", "is_named"), NAMED)
def test_tests_that_name_a_file_are_of_its_tests(tree, path, text, is_named):
    (tree / "tests" / "support" / "test_other.py").write_text(text)
    assert ("tests/support/test_other.py" in mutants.tests_of(path)) == is_named
