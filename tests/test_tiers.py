"""tests/tiers.csv says what the tests of each file cost, in the tiers of their marks, and those of
`make test` stay within ten minutes of a processor: see tests/support/tiers.py."""

import json
from types import SimpleNamespace

import pytest

from tests.support import tiers
from tests.support.extensions_document import taken_away
from tests.support.serving import ROOT
from tests.support.tiers import RUN, Cost

pytestmark = pytest.mark.check

TABLE = tiers.table()
PROCESSOR_S = 600


def test_the_table_is_of_the_files_that_are_there_and_of_the_tiers_of_their_marks():
    marks = {file: tiers.tiers_of_file(ROOT / file) for file in tiers.test_files()}
    named = {file for file, _ in TABLE if file != RUN}
    assert named <= marks.keys() or taken_away()
    for file in named & marks.keys():
        costs = {tier for name, tier in TABLE if name == file}
        assert marks[file] - {"long"} <= costs <= marks[file], file
    marked = {file for file in marks if "thorough" in marks[file]}
    assert marked <= named, "run these with --record-costs: see tests/support/tiers.py"


def test_what_make_test_costs_stays_within_its_bounds():
    """With what is taken of files that are not in the table. Seconds that pass are those of the
    machine of the day, and of what else it did; the processor's are of the tests."""
    costs = [cost for (_, tier), cost in TABLE.items() if tier == "test"]
    files = {file for file in tiers.test_files() if "test" in tiers.tiers_of_file(ROOT / file)}
    others = files - {file for file, _ in TABLE}
    assumed_s = len(others) * tiers.OTHERS_S
    assert (RUN, "test") in TABLE and len(others) < 50
    assert sum(cost.processor_seconds for cost in costs) + assumed_s <= PROCESSOR_S


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


def test_what_a_run_records_replaces_what_the_table_said(tmp_path):
    here, quick = "tests/test_tiers.py", "tests/test_scheduling.py"
    (tmp_path / "tiers.csv").write_text(
        "file,tier,tests,seconds,processor_seconds\n"
        f"{here},test,1,9.0,\n{here},long,1,9.0,9.0\n"
        f"{quick},test,4,5.0,6.0\ntests/test_nothing.py,test,1,9.0,9.0\n"
    )
    lines = [[[here, "test"], [2, 1.5, 1.0]], [[here, "test"], [1, 0.5, 0.25]]]
    lines.append([[RUN, "test"], [2, 6.0, 3.25]])
    (tmp_path / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    tiers.write(tiers.recorded(tmp_path), tmp_path / "tiers.csv")
    assert tiers.table(tmp_path / "tiers.csv") == {
        (RUN, "test"): Cost(2, 4.0, 2.0),
        (here, "test"): Cost(3, 2.0, 1.2),
        (quick, "test"): Cost(4, 5.0, 6.0),
    }


def test_a_test_is_recorded_in_its_file_and_tier(tmp_path, monkeypatch):
    monkeypatch.setenv(tiers.RECORDED_BY, "")
    recorder, path = tiers.Recorder(tmp_path, has_workers=False), ROOT / "tests/test_tiers.py"
    item = SimpleNamespace(path=path, get_closest_marker=lambda mark: mark == "thorough")
    for following in (item, None):
        hook = recorder.pytest_runtest_protocol(item, following)
        next(hook)
        with pytest.raises(StopIteration):
            hook.send(None)
    [(key, cost)] = tiers.recorded(tmp_path).items()
    assert key == ("tests/test_tiers.py", "thorough") and cost.tests == 2
