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
from xdist.scheduler import LoadFileScheduling

# Files whose tests share an index or chains that take seconds to make.
SHARED = {
    "query plans": ("/test_query_plans.py", "/test_search.py"),
    "demo": (
        "api/test_back_in_time.py",
        "extensions/test_chains.py",
        "extensions/test_transaction_details.py",
        "demo/tests/test_demo.py",
        "extensions/test_mcp.py",
    ),
    "several chains": ("gateway/tests/test_several_chains.py", "gateway/tests/test_gateway.py"),
}
SECONDS = Path(__file__).with_name("file_seconds.json")
LEAST_S, SECONDS_OF_A_TEST = 2.0, 0.1  # files that take less are not named


class FixedScheduling(LoadFileScheduling):
    """The tests of a file run in one worker; so do all of an entry of SHARED, and all of the audit,
    which share an index. Each worker gets all of its files at the start."""

    def schedule(self):
        if self.collection is None and self.registered_collections:
            [*_, collection] = self.registered_collections.values()
            self._workers = placed(collection, len(self.nodes))
        super().schedule()

    def _split_scope(self, nodeid):
        return f"worker {self._workers[group_of(nodeid)]}"


def placed(collection, workers):
    """The worker of each group of files, so that all of them take about equally long."""
    seconds = json.loads(SECONDS.read_text())
    tests = Counter(nodeid.partition("::")[0] for nodeid in collection)
    groups = Counter[str]()
    for file, count in tests.items():
        groups[group_of(file)] += seconds.get(file, count * SECONDS_OF_A_TEST)
    loads, worker_of = [0.0] * workers, {}
    for group, load in sorted(groups.items(), key=lambda item: (-item[1], item[0])):
        worker = loads.index(min(loads))
        loads[worker] += load
        worker_of[group] = worker
    return worker_of


def group_of(nodeid):
    file = nodeid.partition("::")[0]
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
