"""What the tests of each file cost, in each tier: the table tests/tiers.csv, how it is recorded.

A test without a mark is run by `make test`, one that is marked `thorough` by `make test-all` as
well, and one that is marked `long` by `make test-long` alone.

    make test-all ARGS=--record-costs=FOLDER
    .venv/bin/python -m tests.support.tiers FOLDER

writes into the table what a run, of some tests or all, has recorded. A file's tests cost together,
with what they start; the first one of a worker makes what all of them share.
"""

import csv
import ctypes
import json
import os
import re
import sys
import threading
import time
from collections import Counter, defaultdict, namedtuple
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil
import pytest
from _pytest.mark.expression import Expression

from tests.support.serving import ROOT

TIERS = ("test", "thorough", "long")  # the marks, but for the first, and columns of the table
TABLE = ROOT / "tests" / "tiers.csv"
OTHERS_S = 0.7  # what a file is taken to cost that is not in the table
RUN = "(workers)"  # the row of what costs a run beside its tests, from its start to its end
MARK = re.compile(r"\bmark\.(thorough|long)\b")
MARK_OF_FILE = re.compile(r"^pytestmark = .*\bmark\.(thorough|long)\b", re.M)
PR_SET_CHILD_SUBREAPER = 36
RECORDED_BY = "PYTEST_RECORDED_BY"  # in the environment of what a recording process starts


class Cost(namedtuple("Cost", "tests seconds processor_seconds")):
    """Of the tests of a file in one tier; of RUN, the workers instead of tests. The processor's
    time is None where it was not recorded."""


def test_files(root=ROOT):
    return sorted(
        path.relative_to(root).as_posix()
        for folder in ("tests", "scan/extensions")
        for path in (root / folder).rglob("test_*.py")
        if "node_modules" not in path.parts
    )


def table(path=TABLE):
    """Costs by file and tier."""
    with path.open(newline="") as file:
        return {
            (row["file"], row["tier"]): Cost(
                int(row["tests"]),
                float(row["seconds"]),
                float(row["processor_seconds"]) if row["processor_seconds"] else None,
            )
            for row in csv.DictReader(file)
        }


def seconds_by_file(tiers):
    seconds = Counter[str]()
    for (file, tier), cost in table().items():
        if tier in tiers:
            seconds[file] += cost.seconds
    return seconds


@cache
def tiers_of_file(path):
    """The tiers whose tests a file may have, by the marks in its text."""
    text = path.read_text(encoding="utf-8")
    marks = {*MARK.findall(text)}
    return marks if MARK_OF_FILE.search(text) else {TIERS[0], *marks}


def tiers_of_run(markexpr):
    """Those which -m chooses, of tests that have no other mark."""
    if not markexpr:
        return {*TIERS}
    chosen = Expression.compile(markexpr)
    return {tier for tier in TIERS if chosen.evaluate(lambda name, of=tier, **_: name == of)}


def tier_of(item):
    return next((tier for tier in ("long", "thorough") if item.get_closest_marker(tier)), TIERS[0])


class Recorder:
    """Writes what the tests of each file cost into a file of this process: seconds, and those of
    the processor in this process and all that it has started, whether they have ended or not."""

    def __init__(self, folder, has_workers):
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.path = Path(folder, f"{os.getpid()}.jsonl")
        self.has_workers, self.start_s = has_workers, time.monotonic()
        os.environ[RECORDED_BY] = str(os.getpid())
        self.last = None
        self.tests = 0

    def pytest_sessionstart(self):
        """What outlives its parent is a child of the process that starts workers, for which it
        counts when it has ended."""
        if self.has_workers:
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def pytest_runtest_logstart(self):
        if self.has_workers and not self.tests:
            self.tests = 1
            own = {process.pid for process in psutil.Process().children()}
            threading.Thread(target=_reap_others, args=(own,), daemon=True).start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.last = self.last or (time.monotonic(), _processor_s())
        result = yield
        self.tests += 1
        if nextitem is None or _key(nextitem) != _key(item):
            now = time.monotonic(), _processor_s()
            seconds, processor_s = (b - a for a, b in zip(self.last, now, strict=True))
            self._write(_key(item), Cost(self.tests, seconds, processor_s))
            self.last, self.tests = now, 0
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """The process that has started workers says what the whole run took, if it was of all."""
        config = session.config
        if self.has_workers and config.args_source == pytest.Config.ArgsSource.TESTPATHS:
            workers, run = config.option.numprocesses, tiers_of_run(config.option.markexpr)
            seconds = workers * (time.monotonic() - self.start_s)
            first = next(tier for tier in TIERS if tier in run)
            self._write((RUN, first), Cost(workers, seconds, _processor_s()))

    def _write(self, key, cost):
        with self.path.open("a") as file:
            file.write(json.dumps([key, cost]) + "\n")


def _reap_others(own):
    while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)) and ended.si_pid not in own:
        os.waitpid(ended.si_pid, 0)


def _key(item):
    return item.path.relative_to(ROOT).as_posix(), tier_of(item)


_daemons: dict[tuple[int, str], int] = {}  # what each has taken, those that have ended, too


def _processor_s():
    """What this process, all that it has started and all below these have taken, with those that
    have ended: of daemons until they were last seen."""
    children, ticks, parents = defaultdict[int, list[int]](list), Counter[int](), {}
    started = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            pid, parent = int(path.parent.name), int(fields[1])
            parents[pid] = parent
            children[parent].append(pid)
            ticks[pid] = sum(map(int, fields[11:15]))
            if _is_started_here(pid, fields[19]):
                started[pid] = fields[19]

    def with_all_below(pid):
        return ticks[pid] + sum(map(with_all_below, children[pid]))

    for pid in started:
        if pid != os.getpid() and parents[pid] not in started and parents[pid] != os.getpid():
            _daemons[pid, started[pid]] = with_all_below(pid)
    total = with_all_below(os.getpid()) + sum(_daemons.values())
    return total / os.sysconf("SC_CLK_TCK")


@cache
def _is_started_here(pid, _started):
    with suppress(OSError):
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return f"{RECORDED_BY}={os.getpid()}".encode() in environment
    return False


def recorded(folder):
    """The costs by file and tier that a run has written into a folder."""
    sums = defaultdict[tuple[str, str], list[list[float]]](list)
    for path in Path(folder).glob("*.jsonl"):
        for line in path.read_text().splitlines():
            key, cost = json.loads(line)
            sums[tuple(key)].append(cost)
    costs = {key: Cost(*map(sum, zip(*rows, strict=True))) for key, rows in sums.items()}
    for key, run in costs.items():
        if key[0] == RUN:
            others = [cost for key, cost in costs.items() if key[0] != RUN]
            costs[key] = run._replace(
                seconds=run.seconds - sum(cost.seconds for cost in others),
                processor_seconds=run.processor_seconds - sum(c.processor_seconds for c in others),
            )
    return costs


def write(costs, path=TABLE):
    """What was recorded in place of what the table says, without what is not there any more."""
    there = {
        (file, tier): cost
        for (file, tier), cost in ({**table(path), **costs}).items()
        if file == RUN or ((ROOT / file).exists() and tier in tiers_of_file(ROOT / file))
    }
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("file", "tier", *Cost._fields))
        for (name, tier), (tests, seconds, processor_s) in sorted(there.items()):
            processor = "" if processor_s is None else f"{processor_s:.1f}"
            rows.writerow((name, tier, tests, f"{seconds:.1f}", processor))


if __name__ == "__main__":
    write(recorded(sys.argv[1]))
