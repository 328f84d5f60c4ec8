"""Which tests run in one worker, and in which order: see tests/support/scheduling.py."""

import json
import random
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest

from tests.support import scheduling
from tests.support.scheduling import SECONDS, SHARED, group_of, placed, shuffled
from tests.support.serving import ROOT
from tests.support.settings_document import taken_away

pytestmark = pytest.mark.check

FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("tests", "scan/extensions")
    for path in (ROOT / folder).rglob("test_*.py")
    if "node_modules" not in path.parts
)
COLLECTION = [f"{file}::test_{number}" for file in FILES for number in range(5)]


def test_files_that_share_an_index_run_in_one_worker_and_all_take_equally_long(
    monkeypatch, tmp_path
):
    (seconds := tmp_path / "seconds.json").write_text(json.dumps({FILES[0]: 20.0, FILES[1]: 20.0}))
    monkeypatch.setattr(scheduling, "SECONDS", seconds)
    worker_of = placed(COLLECTION, 4)
    assert worker_of == placed(COLLECTION, 4) == placed(COLLECTION[::-1], 4)
    assert worker_of.keys() == {*map(group_of, FILES)} and {*worker_of.values()} == {*range(4)}
    assert worker_of[group_of(FILES[0])] != worker_of[group_of(FILES[1])]
    loads = [0.0] * 4
    for file in FILES:
        loads[worker_of[group_of(file)]] += 20.0 if file in FILES[:2] else 0.5
    assert max(loads) - min(loads) < 1


def test_what_is_said_of_files_is_of_files_that_are_there():
    assert json.loads(SECONDS.read_text()).keys() <= {*FILES} or taken_away()
    for ends in SHARED.values():
        assert all(any(file.endswith(end) for file in FILES) for end in ends) or taken_away()


def test_a_seed_is_an_order_of_files_and_another_one_of_the_tests_in_each():
    items = [
        SimpleNamespace(path=Path(nodeid.partition("::")[0]), nodeid=nodeid)
        for nodeid in COLLECTION
    ]
    one, again, other = (shuffled(items, seed) for seed in ("ff4874f9", "ff4874f9", "601"))
    assert one == again != other
    assert sorted(item.nodeid for item in one) == COLLECTION
    files = [path for path, _ in groupby(item.path for item in one)]
    assert len(files) == len(FILES) and files != [*map(Path, FILES)]
    of_file = [[i.nodeid for i in tests] for _, tests in groupby(one, lambda item: item.path)]
    assert any(tests != sorted(tests) for tests in of_file)


def test_what_a_test_draws_follows_from_its_name_and_the_seed(request):
    seed = request.config.getoption("shuffle")
    assert random.random() == random.Random(f"{seed} {request.node.nodeid}").random()
    has_seed = request.config.option.hypothesis_seed is not None
    assert hypothesis.settings().derandomize != has_seed
    assert has_seed or seed is None
