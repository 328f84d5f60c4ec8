"""Which tiers a file has tests of, and a run: see tests/support/tiers.py."""

import pytest

from tests.support import tiers
from tests.support.serving import ROOT

pytestmark = pytest.mark.check


def test_no_other_module_marks_tests():
    """Which tiers a file has tests of is read from its text."""
    modules = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "scan" / "extensions").rglob("*.py")]
    others = [
        path for path in modules if "node_modules" not in path.parts and not path.match("test_*.py")
    ]
    marking = [path for path in others if tiers.MARK.search(path.read_text())]
    assert {*marking} <= {ROOT / tiers.__file__}, "or their marks are not read"
    assert len(others) > 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"test"}),
        ("pytestmark = pytest.MARK.check\n", {"test"}),
        ("pytestmark = pytest.MARK.thorough\n", {"thorough"}),
        ("pytestmark = [pytest.MARK.timeout(9), pytest.MARK.long]\n", {"long"}),
        ("pytestmark = pytest.MARK.thorough\n@pytest.MARK.long\n", {"thorough", "long"}),
        ("@pytest.MARK.thorough\nA = pytest.param(1, marks=pytest.MARK.long)\n", {*tiers.TIERS}),
    ],
)
def test_the_tiers_of_a_file_are_those_of_its_marks(tmp_path, text, expected):
    (path := tmp_path / "test_a.py").write_text(text.replace("MARK", "mark"))
    assert tiers.tiers_of_file(path) == expected


@pytest.mark.parametrize(
    ("markexpr", "expected"),
    [
        ("", [*tiers.TIERS]),
        ("not long", ["test", "thorough"]),
        ("not thorough and not long", ["test"]),
        ("thorough and not long", ["thorough"]),
        ("long", ["long"]),
        ("check", []),
    ],
)
def test_the_tiers_of_a_run_are_those_of_its_expression(markexpr, expected):
    assert tiers.tiers_of_run(markexpr) == {*expected}
