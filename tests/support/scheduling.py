"""Which tests run in one worker, and in which order: alike in every run, however busy the machine.

`python -m tests.support.scheduling FILE` writes how long files take, from a run's --junitxml."""

import json
import random
import sys
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import pytest
from xdist.scheduler import EachScheduling

from tests.support.serving import ROOT

# Files whose tests share an index or chains that take seconds to make.
SHARED = {
    "50,000 transactions": (
        *("/test_query_plans.py", "/test_search.py", "/test_worth_plans.py"),
        *("sums/test_sums.py", "api/test_holder_change.py", "indexer/test_head.py"),
    ),
    "demo": (
        "api/test_back_in_time.py",
        "extensions/test_chains.py",
        "extensions/test_transaction_details.py",
        "demo/tests/test_demo.py",
        "extensions/test_mcp.py",
    ),
}
OWN_FILES = pytest.StashKey[set[Path]]()
SECONDS = Path(__file__).with_name("file_seconds.json")
LEAST_S, OTHERS_S = 2.0, 0.7  # files that take less are not named, and taken to need so long


class OwnTests(EachScheduling):
    """A worker runs all tests that it has collected, which no other one has."""

    def schedule(self):
        session = self.config.pluginmanager.get_plugin("session")
        session.testscollected = sum(map(len, self.node2collection.values()))
        distinct = {*chain.from_iterable(self.node2collection.values())}
        assert len(distinct) == session.testscollected, "workers have placed files differently"
        super().schedule()


def is_of_another_worker(path, config):
    """Whether another worker of the run collects a file. Of 18 s of processor that the collection
    of all files takes, which each worker would need, most are imports and rewritten assertions."""
    if "workerinput" not in vars(config) or not path.match("test_*.py"):
        return False
    if OWN_FILES not in config.stash:
        given = {Path(config.invocation_params.dir, arg.partition("::")[0]) for arg in config.args}
        files = [f for p in given for f in (p.rglob("test_*.py") if p.is_dir() else [p])]
        names = [f.relative_to(ROOT).as_posix() for f in files if "node_modules" not in f.parts]
        seconds = {} if config.option.markexpr == "check" else json.loads(SECONDS.read_text())
        worker_of = placed(names, config.workerinput["workercount"], seconds)
        own = int(config.workerinput["workerid"].removeprefix("gw"))
        config.stash[OWN_FILES] = {ROOT / n for n in names if worker_of[group_of(n)] == own}
    return path not in config.stash[OWN_FILES]


def own_arguments(config):
    """Those of the command line without files of other workers, which pytest collects as they are
    named, whatever is to be ignored in folders."""
    paths = {arg: Path(config.invocation_params.dir, arg.partition("::")[0]) for arg in config.args}
    return [arg for arg, path in paths.items() if not is_of_another_worker(path, config)]


def placed(files, workers, seconds):
    """The worker of each group of files, so that all of them take about equally long."""
    groups = Counter[str]()
    for file in sorted(files):  # sums of another order would differ in their last digits
        groups[group_of(file)] += seconds.get(file, OTHERS_S)
    loads, worker_of = [0.0] * workers, {}
    for group, load in sorted(groups.items(), key=lambda item: (-item[1], item[0])):
        worker = loads.index(min(loads))
        loads[worker] += load
        worker_of[group] = worker
    return worker_of


def group_of(file):
    """The name of the files that one worker runs: an entry of SHARED, all of the audit, which share
    an index, or the file alone."""
    if file.startswith("tests/audit/"):
        return "audit"
    return next((name for name, ends in SHARED.items() if file.endswith(ends)), file)


def shuffled(items, seed):
    """Files in an order that follows from the seed, and the tests of each in another one."""
    order, files = random.Random(seed), defaultdict[Path, list[pytest.Item]](list)
    for item in items:
        files[item.path].append(item)
    for tests in files.values():
        order.shuffle(tests)
    return [*chain.from_iterable(order.sample([*files.values()], len(files)))]


def _write_seconds(report):
    seconds = Counter[str]()
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        seconds[file] += float(case.get("time", 0))
    named = {file: round(s, 1) for file, s in sorted(seconds.items()) if s >= LEAST_S}
    SECONDS.write_text(json.dumps(named, indent=0) + "\n")


if __name__ == "__main__":
    _write_seconds(sys.argv[1])
