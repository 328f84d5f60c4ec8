"""What `make mutants` changes, and what it says of it: see tests/mutants/."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scan.settings import ROOT
from tests.mutants import __main__ as command
from tests.mutants.drawing import mutants
from tests.mutants.forks import is_in_function
from tests.mutants.kept import Kept
from tests.mutants.ranking import Ranking
from tests.mutants.recorder import is_among

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


@pytest.mark.parametrize(
    ("text", "changed", "is_inside"),
    [
        ("def f():\n    return 1\n", "def f():\n    return 2\n", True),
        ("class A:\n    def f(self):\n        return [1 for _ in ()]\n", None, True),
        ("class A:\n    x = 1\n", None, False),
        ("def f(x=1):\n    return x\n", None, False),
        ("f = lambda: 1\n", None, True),
        ("X = 1\n", None, False),
    ],
)
def test_what_functions_do_when_called_is_replaced_in_place(
    text: str, changed: str | None, is_inside: bool
) -> None:
    assert is_in_function(text, changed or text.replace("1", "2")) is is_inside


def test_statements_of_a_template_are_known_by_its_name() -> None:
    assert is_among("queries/{list}_page", {"queries/blocks_page"})
    assert not is_among("queries/{list}_page", {"queries/blocks_page_size", "api/blocks_page"})
    assert is_among("scan/a.py:3", {"scan/a.py:3"})


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
def test_bounds_and_times_are_tuning(text: str, is_tuning: bool) -> None:
    assert {mutant.is_tuning for mutant in mutants("a.py", text)} == {is_tuning}


@pytest.mark.parametrize(
    ("place", "nearest"),
    [
        ("scan/pages/formatting.py", "tests/pages/test_formatting.py"),
        ("scan/extensions/mail/deliveries.py", "tests/extensions/mail/"),
        ("sql/webhooks/webhooks_activate.sql", "tests/webhooks/"),
    ],
)
def test_tests_of_the_same_room_and_name_are_the_nearest(place: str, nearest: str) -> None:
    text = (ROOT / place).read_text()
    mutant = next(mutants(place, text))
    assert Ranking(ROOT).files(mutant, text)[0].startswith(nearest)


MODULE = """
LIMIT = 5
def entered(): return 1
def slow(): return 2
def unread(): return 3
def known(): return 4
"""
TESTS = """
import time
import pytest
from scan import a
def test_entered(): assert a.entered() == 1
def test_limit(): assert a.LIMIT == 5
def test_slow():
    for _ in range(a.slow() - 2): time.sleep(600)
def test_of_another_function(): a.unread()
@pytest.mark.parametrize("known", [a.known()])
def test_known(known): assert known == a.known()
def test_that_fails(): assert a.entered() == 9
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a module, its tests, and no servers."""
    root = Path(command.__file__).parent
    for folder in ("scan", "sql", "tests/support/node/node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(root, tmp_path / "tests" / "mutants")
    for package in ("scan", "tests"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "scan" / "a.py").write_text(MODULE)
    (tmp_path / "tests" / "test_a.py").write_text(TESTS)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "kept", _nothing_kept)
    monkeypatch.setattr(command, "SECONDS_OF_A_TEST", 5.0)
    return tmp_path


@contextmanager
def _nothing_kept(*_: object) -> Iterator[Kept]:
    yield Kept({}, frozenset())


def output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, list[str]]:
    monkeypatch.setattr(sys, "argv", ["mutants", "--seed", "606", *arguments])
    status = command.main()
    return status, capsys.readouterr().out.splitlines()


def test_each_mutant_is_said_to_be_killed_or_to_survive(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, [first, *lines, total] = output(monkeypatch, capsys)
    assert (status, first) == (1, "seed 606, 5 mutants")
    assert total == "3 killed, 2 survived"
    words = dict(zip(lines[::2], lines[1::2], strict=True))
    assert {line.partition("   in")[0] for line in words} == {
        "killed: scan/a.py:2: 5 -> 6",
        "killed: scan/a.py:3: 1 -> 2",
        "killed: scan/a.py:4: 2 -> 3",
        "survived: scan/a.py:5: 3 -> 4",
        "survived: scan/a.py:6: 4 -> 5",
    }
    why = {line.split(":")[2]: reason.strip() for line, reason in words.items()}
    assert why["2"].startswith("by tests/test_a.py::test_limit")
    assert why["3"].startswith("by tests/test_a.py::test_entered")
    assert why["4"] == "tests/test_a.py::test_slow hangs"
    assert why["5"].endswith("1 of them entered it")


def test_those_to_try_are_chosen_by_number(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "scan" / "a.py").write_text("def entered(): return 1 + 0\n")
    (tree / "tests" / "test_a.py").write_text("from scan import a\ndef test_a(): a.entered()\n")
    _, [_, *all_lines, _] = output(monkeypatch, capsys)
    _, [first, one, _, total] = output(monkeypatch, capsys, "--numbers", "2")
    assert (first, total) == ("seed 606, 1 mutants", "1 survived")
    assert one in all_lines
