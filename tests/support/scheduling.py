"""Which tests run in one worker, and in which order: alike in each run, on a busy machine too."""

import random
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

import pytest
from xdist.scheduler import EachScheduling

from tests.support.extension_tests import files_of_tests
from tests.support.serving import ROOT

# Files whose tests share an index or chains that take seconds to make, by parts of their names.
SHARED = {
    "50,000 transactions": (
        *("/test_query_plans.py", "/test_search.py", "/test_worth_plans.py"),
        *("sums/test_sums.py", "api/test_holder_change.py", "indexer/test_head.py"),
    ),
    "demo": (
        "api/test_back_in_time.py",
        "extensions/test_chains.py",
        "demo/tests/test_demo.py",
        "extensions/test_mcp.py",
    ),
    "audit": ("tests/audit/",),
}
OWN_FILES = pytest.StashKey[set[Path]]()


class OwnTests(EachScheduling):
    """A worker runs all tests that it has collected, which no other one has."""

    def schedule(self):
        session = self.config.pluginmanager.get_plugin("session")
        session.testscollected = sum(map(len, self.node2collection.values()))
        distinct = {*chain.from_iterable(self.node2collection.values())}
        assert len(distinct) == session.testscollected, "workers have placed files differently"
        super().schedule()


def is_left_out(path, config):
    """Whether a file is collected by another worker. Of 18 s of processor that the collection of
    all files takes, which each worker would need, most are imports and rewritten assertions."""
    worker = getattr(config, "workerinput", None)
    if worker is None or not path.match("test_*.py") or not path.is_relative_to(ROOT):
        return False
    if OWN_FILES not in config.stash:
        given = [_path_of(arg, config) for arg in config.args]
        files = [f for f in files_of_tests() if any((ROOT / f).is_relative_to(p) for p in given)]
        worker_of = placed(files, worker["workercount"])
        own = int(worker["workerid"].removeprefix("gw"))
        config.stash[OWN_FILES] = {ROOT / f for f in files if worker_of[group_of(f)] == own}
    return path not in config.stash[OWN_FILES]


def own_arguments(config):
    """Those of the command line without files that are left out, which pytest collects as they are
    named, whatever is to be ignored in folders."""
    return [arg for arg in config.args if not is_left_out(_path_of(arg, config), config)]


def _path_of(argument, config):
    return Path(config.invocation_params.dir, argument.partition("::")[0])


def placed(files, workers):
    """The worker of each group of files, so that all have about as many. With the seconds of each
    file in place of these counts, the last of four workers would end 4 % earlier."""
    loads, worker_of = [0] * workers, {}
    groups = Counter(map(group_of, files))
    for group, load in sorted(groups.items(), key=lambda item: (-item[1], item[0])):
        worker_of[group] = loads.index(min(loads))
        loads[worker_of[group]] += load
    return worker_of


def group_of(file):
    """The name of the files that one worker runs: an entry of SHARED, or the file alone."""
    shared = (name for name, parts in SHARED.items() if any(part in file for part in parts))
    return next(shared, file)


def shuffled(items, seed):
    """Files in an order that follows from the seed, and the tests of each in another one."""
    order, files = random.Random(seed), defaultdict[Path, list[pytest.Item]](list)
    for item in items:
        files[item.path].append(item)
    for tests in files.values():
        order.shuffle(tests)
    return [*chain.from_iterable(order.sample([*files.values()], len(files)))]
