"""Which tests run in one worker, and in which order: see tests/support/scheduling.py."""

import random
from collections import Counter
from itertools import chain, groupby
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest

from tests.support import tiers
from tests.support.extensions_document import taken_away
from tests.support.scheduling import (
    SHARED,
    SLOW,
    group_of,
    is_left_out,
    own_files,
    placed,
    shard,
    shuffled,
)
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

FILES = tiers.test_files()


def test_files_that_share_an_index_run_in_one_worker_and_all_have_as_many():
    files = [file for file in FILES if file not in SLOW]
    worker_of = placed(files, 4)
    assert worker_of == placed(files[::-1], 4)
    assert worker_of.keys() == {*map(group_of, files)}
    loads = Counter(worker_of[group_of(file)] for file in files)
    assert loads.keys() == {*range(4)} and max(loads.values()) - min(loads.values()) <= 1


def config_of(worker=None, markexpr="not long", **options):
    worker_input = {"workercount": 3, "workerid": f"gw{worker}"}
    return SimpleNamespace(
        **({} if worker is None else {"workerinput": worker_input}),
        invocation_params=SimpleNamespace(dir=ROOT),
        args=["tests/http", "tests/api/test_lists.py::test_stats"],
        option=SimpleNamespace(markexpr=markexpr, **{"shard": None} | options),
        stash={},
    )


def test_each_file_is_collected_by_one_worker():
    configs = [config_of(worker) for worker in range(3)]
    named = [f for f in FILES if f.startswith("tests/http/")] + ["tests/api/test_lists.py"]
    collected = [file for file in named if tiers.tiers_of_file(ROOT / file) != {"long"}]
    assert len(collected) > 20
    for file in collected:
        assert sum(not is_left_out(ROOT / file, config) for config in configs) == 1
    assert not is_left_out(ROOT / "tests/http/conftest.py", configs[0])


TESTS, REST, ALL = "not thorough and not long", "thorough and not long", "not long"


@pytest.mark.parametrize("markexpr", [TESTS, REST, ALL, "long", "check", ""])
def test_files_with_tests_of_a_tier_are_of_one_worker_of_one_shard(markexpr):
    def of(**options):
        return own_files(FILES, config_of(markexpr=markexpr, **options))

    shards = [shard(f"{number}/4") for number in range(1, 5)]
    for parts in (
        [of(worker=worker) for worker in range(3)],
        [of(shard=part) for part in shards],
        [of(worker=worker, shard=part) for worker in range(3) for part in shards],
    ):
        assert sorted(chain.from_iterable(parts)) == of()


def test_a_run_collects_the_files_with_tests_of_its_tiers():
    expressions = TESTS, REST, ALL, "long"
    tests, rest, all_, long = (
        {*own_files(FILES, config_of(markexpr=expression))} for expression in expressions
    )
    assert tests | rest == all_ and all_ | long == {*FILES}
    assert tests - rest and rest - tests and long - all_ and "tests/api/test_lists.py" in tests


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "a/b", "1/4/5"])
def test_a_shard_is_one_of_those_there_are(text):
    with pytest.raises(ValueError):
        shard(text)


def test_files_that_are_placed_by_name_are_there():
    for ends in (*SHARED.values(), SLOW):
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
