"""Which tests run in one worker, and in which order: alike in each run, on a busy machine too."""

import random
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

import pytest
from xdist.scheduler import EachScheduling

from tests.support import tiers
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
# Files whose thorough tests take minutes, each as long as 25 others.
SLOW = {
    *("tests/extensions/test_contract_changes.py", "tests/extensions/test_contract_lives.py"),
    *("tests/extensions/test_faces_of_tokens.py", "tests/extensions/test_forms_of_nfts.py"),
    *("tests/extensions/test_protocols.py", "tests/http/test_sockets.py"),
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
    """Whether a file has no tests of the run's tiers, is of another shard, or is collected by
    another worker. Of 18 s of processor that the collection of all files takes, which each worker
    would need, most are imports and rewritten assertions."""
    if not path.match("test_*.py") or not path.is_relative_to(ROOT):
        return False
    if OWN_FILES not in config.stash:
        given = {Path(config.invocation_params.dir, arg.partition("::")[0]) for arg in config.args}
        files = {f for p in given for f in (p.rglob("test_*.py") if p.is_dir() else [p])}
        names = [f.relative_to(ROOT).as_posix() for f in files if "node_modules" not in f.parts]
        config.stash[OWN_FILES] = {ROOT / name for name in own_files(names, config)}
    return path not in config.stash[OWN_FILES]


def own_files(names, config):
    """Of files, those with tests of the run's tiers, of its shard, and of this worker."""
    if chosen := tiers.tiers_of_run(config.option.markexpr):
        names = [name for name in names if tiers.tiers_of_file(ROOT / name) & chosen]
    if config.option.shard:
        number, shards = config.option.shard
        shard_of = placed(names, shards)
        names = [name for name in names if shard_of[group_of(name)] == number - 1]
    if worker := getattr(config, "workerinput", None):
        worker_of = placed(names, worker["workercount"])
        own = int(worker["workerid"].removeprefix("gw"))
        names = [name for name in names if worker_of[group_of(name)] == own]
    return names


def own_arguments(config):
    """Those of the command line without files that are left out, which pytest collects as they are
    named, whatever is to be ignored in folders."""
    if has_workers(config):  # which get these
        return config.args
    paths = {arg: Path(config.invocation_params.dir, arg.partition("::")[0]) for arg in config.args}
    return [arg for arg, path in paths.items() if not is_left_out(path, config)]


def has_workers(config):
    return not hasattr(config, "workerinput") and config.getoption("numprocesses", None)


def placed(files, workers):
    """The worker of each group of files, so that all have about as many. With the seconds of each
    file in place of these counts, the last of four workers would end 4 % earlier, `make test-rest`
    5 %."""
    groups = Counter[str]()
    for file in files:
        groups[group_of(file)] += 25 if file in SLOW else 1
    loads, worker_of = [0] * workers, {}
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


def shard(text):
    """Of --shard: its number and how many there are."""
    number, _, shards = text.partition("/")
    if not 1 <= int(number) <= int(shards):
        raise ValueError(text)
    return int(number), int(shards)


def shuffled(items, seed):
    """Files in an order that follows from the seed, and the tests of each in another one."""
    order, files = random.Random(seed), defaultdict[Path, list[pytest.Item]](list)
    for item in items:
        files[item.path].append(item)
    for tests in files.values():
        order.shuffle(tests)
    return [*chain.from_iterable(order.sample([*files.values()], len(files)))]
