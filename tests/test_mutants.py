"""What `make mutants` changes: see tests/mutants.py."""

import sys
from pathlib import Path

import pytest

import tests.mutants
from tests.mutants import main, mutants, named_tests

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
def test_one_operator_word_or_number_is_changed_at_a_time(
    place: str, text: str, changed: list[str]
) -> None:
    found = [mutant.text for mutant in mutants(place, text)]
    assert len(found) == len(changed)
    assert all(part in mutant for part, mutant in zip(changed, found, strict=True))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose only test reads a hidden file, and calls one of two functions."""
    for folder in ("scan", "sql", ".ci", "tests/support/node/node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "scan" / "__init__.py").touch()  # or an installed package goes before it
    (tmp_path / "scan" / "a.py").write_text("def f(): return 1\ndef g(): return 2\n")
    (tmp_path / ".ci" / "run").write_text("1")
    test = "from scan.a import f\ndef test_f(): assert f() == int(open('.ci/run').read())\n"
    (tmp_path / "tests" / "test_a.py").write_text(test)
    monkeypatch.setattr(tests.mutants, "ROOT", tmp_path)
    return tmp_path


def exit_status(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["mutants", "--tests", "tests/test_a.py", *arguments])
    return main()


def test_survivors_are_named_with_the_seed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(monkeypatch, "--seed", "606") == 1
    first, *outcomes, total = capsys.readouterr().out.splitlines()
    assert first == "seed 606, 2 mutants" and total == "1 killed, 1 survived"
    assert sorted(outcomes) == [
        "killed: scan/a.py:1: 1 -> 2   in: def f(): return 1",
        "survived: scan/a.py:2: 2 -> 3   in: def g(): return 2",
    ]


def test_no_mutant_is_tried_where_the_tests_fail_without_one(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / ".ci" / "run").write_text("2")
    with pytest.raises(SystemExit, match="The tests fail without a mutant"):
        exit_status(monkeypatch)
    assert "killed" not in capsys.readouterr().out


def test_a_mutant_without_tests_named_is_tried_with_those_of_its_room() -> None:
    assert named_tests("sql/webhooks/deliveries_claim_due.sql") == ("tests/webhooks",)
    assert named_tests("scan/extensions/backfill/sql/bulk/x.sql") == ("tests/extensions/backfill",)
    assert named_tests("scan/server/worker.py") == ("tests/http", "tests/deploy/test_nginx.py")
    assert named_tests("scan/settings.py") == ("-m", "check")
