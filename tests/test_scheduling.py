"""Which tests run in one worker, and in which order: see tests/support/scheduling.py."""

import json
import random
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest

from tests.support.scheduling import (
    OTHERS_S,
    SECONDS,
    SHARED,
    group_of,
    is_of_another_worker,
    placed,
    shuffled,
)
from tests.support.serving import ROOT
from tests.support.settings_document import taken_away

pytestmark = pytest.mark.check

FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("tests", "scan/extensions")
    for path in (ROOT / folder).rglob("test_*.py")
    if "node_modules" not in path.parts
)


def test_files_that_share_an_index_run_in_one_worker_and_all_take_equally_long():
    seconds = dict.fromkeys(FILES[:2], 20.0)
    worker_of = placed(FILES, 4, seconds)
    assert worker_of == placed(FILES[::-1], 4, seconds)
    measured = json.loads(SECONDS.read_text())
    for number in range(20):  # sums of seconds, which depend on the order of what is added
        order = random.Random(number).sample(FILES, len(FILES))
        assert placed(order, 4, measured) == placed(FILES, 4, measured)
    assert worker_of.keys() == {*map(group_of, FILES)} and {*worker_of.values()} == {*range(4)}
    assert worker_of[group_of(FILES[0])] != worker_of[group_of(FILES[1])]
    loads = [0.0] * 4
    for file in FILES:
        loads[worker_of[group_of(file)]] += seconds.get(file, OTHERS_S)
    assert max(loads) - min(loads) < 1


def test_each_file_is_collected_by_one_worker():
    def collects(number, file):
        config = SimpleNamespace(
            workerinput={"workercount": 3, "workerid": f"gw{number}"},
            invocation_params=SimpleNamespace(dir=ROOT),
            args=["tests/http", "tests/api/test_lists.py::test_stats"],
            option=SimpleNamespace(markexpr="not long"),
            stash={},
        )
        return not is_of_another_worker(ROOT / file, config)

    for file in [f for f in FILES if f.startswith("tests/http/")] + ["tests/api/test_lists.py"]:
        assert sum(collects(number, file) for number in range(3)) == 1
    assert collects(0, "tests/http/conftest.py")


def test_what_is_said_of_files_is_of_files_that_are_there():
    assert json.loads(SECONDS.read_text()).keys() <= {*FILES} or taken_away()
    for ends in SHARED.values():
        assert all(any(file.endswith(end) for file in FILES) for end in ends) or taken_away()


def test_a_seed_is_an_order_of_files_and_another_one_of_the_tests_in_each():
    nodeids = [f"{file}::test_{number}" for file in FILES for number in range(5)]
    items = [SimpleNamespace(path=Path(n.partition("::")[0]), nodeid=n) for n in nodeids]
    one, again, other = (shuffled(items, seed) for seed in ("ff4874f9", "ff4874f9", "601"))
    assert one == again != other
    assert sorted(item.nodeid for item in one) == nodeids
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
