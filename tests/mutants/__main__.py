"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7'

First all tests run once, and what each reaches is recorded; then, of each mutant, those that reach
it. The survivors are printed, and the exit status is 1 where there are any: a test is missing, or
the change has no effect.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import psutil

from scan.settings import ROOT
from tests.mutants import reached, selection
from tests.mutants.drawing import Mutant, sample

NOT_COPIED = tuple(".git .venv .*_cache .hypothesis node_modules *.egg-info build dist var".split())
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not long")
START_S = 60.0  # of pytest, its imports and servers
SLOWER = 4.0  # a test that takes so many times as long hangs by the mutant
END_S = 20.0  # for fixtures to end their servers


class Outcome(NamedTuple):
    mutant: Mutant
    # killed, survived, tuning (it survived, and is a bound or a time) or unreached
    word: str
    why: str

    def __str__(self):
        return f"{self.word}: {self.mutant}\n    {self.why}"


class Copy:
    """A copy of the tree, in which one file at a time is changed."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        modules = "tests/support/node/node_modules"
        (folder / modules).symlink_to(ROOT / modules)

    def outcome(self, mutant, selector, bound_s):
        path = self.folder / mutant.place
        original = path.read_text(encoding="utf-8")
        tests, left = selector.of(mutant, original, bound_s)
        if not tests:
            return Outcome(mutant, "unreached", "no test is known to reach it")
        path.write_text(mutant.text, encoding="utf-8")
        try:
            seconds = START_S + SLOWER * sum(selector.reached.seconds[test] for test in tests)
            why = self._failure(tests, seconds)
        finally:
            path.write_text(original, encoding="utf-8")
        if why is not None:
            return Outcome(mutant, "killed", why)
        files = {test.partition("::")[0] for test in tests}
        why = f"{len(tests)} tests of {len(files)} files pass, {left} more reach it"
        return Outcome(mutant, "tuning" if mutant.is_tuning else "survived", why)

    def _failure(self, tests, seconds):
        """Run tests until one fails, and return what pytest says of it; None where all pass."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        output = self.folder / "output"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*PYTEST, "-p", "no:xdist", "-x", *tests],
                cwd=self.folder,
                env=environment | {"PYTHONPATH": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        try:
            if process.wait(seconds) == 0:
                return None
        except subprocess.TimeoutExpired:
            _end(process)
            return f"one of {len(tests)} tests hangs"
        lines = output.read_text(errors="replace").splitlines()
        said = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        return (said or lines or ["pytest ended"])[-1][:200]


def _end(process):
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_S)
        return
    for started in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            started.kill()
    process.kill()
    process.wait()


def record(folder, tests, processes):
    """Run tests, and record what they reach."""
    folder.mkdir(parents=True)
    paths = [str(ROOT / "tests" / "mutants" / "started"), str(ROOT)]
    environment = os.environ | {"PYTHONPATH": ":".join(paths), reached.FOLDER: str(folder)}
    options = ("-p", "tests.mutants.reached", "-n", str(processes), "--dist", "each")
    with (folder / "output").open("wb") as file:
        subprocess.run(
            [*PYTEST, *options, *tests],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )


def outcomes(selector, chosen, copies, bound_s):
    free = SimpleQueue[Copy]()
    for copy in copies:
        free.put(copy)

    def outcome(mutant):
        copy = free.get()
        try:
            return copy.outcome(mutant, selector, bound_s)
        finally:
            free.put(copy)

    pool = ThreadPoolExecutor(len(copies))
    try:
        for future in as_completed([pool.submit(outcome, mutant) for mutant in chosen]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def main():
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--tests", default="", help="folders or files of tests; otherwise all")
    parser.add_argument("--count", type=int, default=20, help="how many mutants, at random")
    parser.add_argument("--seed", type=int, help="chooses them; without it, others each time")
    parser.add_argument("--numbers", default="1-", help="those of them to try, such as 41-80")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--bound", type=float, default=120, help="seconds of tests for one")
    parser.add_argument("--reached", type=Path, help="a folder with what is recorded, to use again")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    first, _, last = given.numbers.partition("-")
    chosen = sample(ROOT, given.only, given.count, seed)[int(first) - 1 : int(last or given.count)]
    print(f"seed {seed}, {len(chosen)} mutants", flush=True)
    tally = Counter[str]()
    with tempfile.TemporaryDirectory(prefix="scan-mutants-") as temporary:
        folder = given.reached or Path(temporary) / "reached"
        if not folder.exists():
            record(folder, given.tests.split(), 2 * given.processes)
        selector = selection.Selector(ROOT, reached.read(folder))
        print(f"{len(selector.reached.seconds)} tests", flush=True)
        copies = [Copy(Path(temporary) / f"copy{number}") for number in range(given.processes)]
        for outcome in outcomes(selector, chosen, copies, given.bound):
            tally[outcome.word] += 1
            print(outcome, flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(tally.items())))
    return int(tally["survived"] + tally["unreached"] > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
