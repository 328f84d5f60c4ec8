"""What `make mutants` changes, which tests it runs, and what it says: see tests/mutants.py."""

import pytest

from tests import mutants

pytestmark = pytest.mark.check


MODULE = """
LIMIT = 5
MAX_ROWS = 7
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


@pytest.mark.long
def test_mutants_are_killed_by_the_tests_that_fail_of_them(tmp_path, monkeypatch, capsys):
    for folder in ("scan/api", "sql/api", "tests/api", "tests/support/node/node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    for package in ("scan", "scan/api", "tests", "tests/api"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "scan" / "api" / "a.py").write_text(MODULE)
    (tmp_path / "sql" / "api" / "rows_list.sql").write_text("SELECT min(1)")
    (tmp_path / "tests" / "api" / "test_a.py").write_text(TESTS.replace("MARK", "mark"))
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -rs\n")  # as this project's
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr("tests.support.extension_tests.ROOT", tmp_path)
    arguments = ["--seed", "606", "--results", str(tmp_path / "results")]
    assert mutants.main(arguments) == 1
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == "seed 606, 6 mutants"
    assert "    tests/api/test_a.py::test_limit" in lines
    outcomes = [line.partition("   in")[0] for line in lines if not line.startswith(" ")]
    assert sorted(outcomes) == [
        "killed by make test-all: scan/api/a.py:4: 1 -> 2",
        "killed by make test: scan/api/a.py:2: 5 -> 6",
        "killed by make test: sql/api/rows_list.sql:1: 1 -> 2",
        "killed by make test: sql/api/rows_list.sql:1: min -> max",
        "survived: scan/api/a.py:5: 3 -> 4",
        "tuning: scan/api/a.py:3: 7 -> 8",
    ]
    mutants.main(arguments)  # a second run tries none of these again
    assert capsys.readouterr().out.splitlines() == [first, last]
