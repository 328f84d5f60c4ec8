"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7'

The survivors are printed, and the exit status is 1 where there are any: a test is missing, or the
change has no effect.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from itertools import chain, islice
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Self

import psutil

from scan.settings import ROOT
from tests.mutants.drawing import Mutant, sample
from tests.mutants.forks import DESCRIPTOR, Result, Task, is_in_function
from tests.mutants.kept import DATABASES, NODE, Kept, kept
from tests.mutants.ranking import Ranking, key_of
from tests.mutants.recorder import is_among

NOT_COPIED = tuple(".git .venv .*_cache .hypothesis node_modules *.egg-info build dist var".split())
OPTIONS = """
    -x -q -s -p no:xdist -p no:cacheprovider -p tests.mutants.forks
    --ignore tests/test_mutants.py
""".split()
AGAIN_S = 20.0  # a test that takes less without the mutant, and with it 120, hangs by the mutant
SECONDS_OF_A_TEST = 120.0
FILES = 6  # nearest files of tests that are tried at most


class Outcome(NamedTuple):
    mutant: Mutant
    # killed, survived, tuning (it survived, and is a bound or a time), late (there was no time for
    # all tests) or timed out
    word: str
    why: str

    def __str__(self) -> str:
        return f"{self.word}: {self.mutant}\n    {self.why}"


class Copy:
    """A copy of the tree, in which one file at a time is changed."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self._environment = folder, environment
        self._changes = 0
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        modules = "tests/support/node/node_modules"
        (folder / modules).symlink_to(ROOT / modules)
        self.tests = Tests(self)

    def start(self, files: Sequence[str], socket_: socket.socket) -> subprocess.Popen[bytes]:
        environment = {
            **{k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
            **self._environment,
            "PYTHONPATH": str(self.folder),
            DESCRIPTOR: str(socket_.fileno()),
        }
        with (self.folder / "output").open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "pytest", *OPTIONS, "-m", "not long", *files],
                cwd=self.folder,
                env=environment,
                pass_fds=[socket_.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def write(self, place: str, text: str) -> None:
        """Bytecode is of a second and a size: each change has a second of its own."""
        (self.folder / place).write_text(text, encoding="utf-8")
        self._changes += 1
        os.utime(self.folder / place, (self._changes, self._changes))


class Tests:
    """A process of pytest, which runs tasks in forks: see forks.py."""

    def __init__(self, copy: Copy, files: Sequence[str] = ()) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = copy.start(files, theirs)
        self._connection = Connection(ours.detach())
        self._output = copy.folder / "output"
        self.collected: list[str] = []
        self.entered_at_import = frozenset[str]()

    def wait(self) -> Self:
        """Until all tests are collected. Raises CannotCollect."""
        if not self.collected:
            self.collected, self.entered_at_import = self._receive()
        return self

    def run(self, task: Task) -> Result:
        self._connection.send(task)
        return self._receive()

    def close(self) -> None:
        """End it, with whatever a fork has started: all of that are its descendants."""
        for process in psutil.Process(self._process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.kill()
        self._process.wait()

    def _receive(self) -> Any:
        try:
            return self._connection.recv()
        except EOFError:
            self._process.wait()
            raise CannotCollect(self._output.read_text()[-3000:]) from None


class CannotCollect(Exception):
    """pytest ended before it had collected any test."""


class Trial:
    """Runs the tests of mutants, and learns which functions and statements each test runs."""

    def __init__(self, kept: Kept, bound_s: float, only: Sequence[str]) -> None:
        self._kept, self._bound_s, self._only = kept, bound_s, only
        self._ranking = Ranking(ROOT)
        self._entered: dict[str, set[str]] = {}  # by test
        self._by_file: dict[str, set[str]] = {}
        self._passes: dict[str, float | None] = {}  # seconds without a mutant; None where it fails

    def outcome(self, copy: Copy, mutant: Mutant) -> Outcome:
        original = (copy.folder / mutant.place).read_text(encoding="utf-8")
        is_python = mutant.place.endswith(".py")
        copy.write(mutant.place, mutant.text)
        try:
            key = key_of(mutant, original)
            is_in_place = not is_python or (
                key not in copy.tests.entered_at_import and is_in_function(original, mutant.text)
            )
            if is_in_place:
                return self._tried(copy.tests, copy, mutant, original, key)
            return self._outcome_anew(copy, mutant, original)
        finally:
            copy.write(mutant.place, original)

    def _outcome_anew(self, copy: Copy, mutant: Mutant, original: str) -> Outcome:
        """In a process that imports the mutant, since what it changes runs at import, too."""
        files = self._files(mutant, original, copy)[:FILES]
        try:
            tests = Tests(copy, files).wait()
        except CannotCollect as error:
            return Outcome(mutant, "killed", f"cannot be imported: {str(error)[-200:]!r}")
        try:
            return self._tried(tests, copy, mutant, original, "")
        finally:
            tests.close()

    def _files(self, mutant: Mutant, original: str, copy: Copy) -> list[str]:
        collected = {test.partition("::")[0] for test in copy.tests.collected}
        ranked = self._only or self._ranking.files(mutant, original)
        return [file for file in ranked if file in collected]

    def _tried(self, tests: Tests, copy: Copy, mutant: Mutant, original: str, key: str) -> Outcome:
        is_in_place = tests is copy.tests
        is_schema = "sql/schema/" in mutant.place
        made_by = self._kept.made_by
        is_of_databases = is_schema or is_among(key, made_by)
        if not key:
            is_of_databases |= any(name.startswith(f"{mutant.place}:") for name in made_by)
        fixtures = NODE if is_of_databases else (*NODE, *DATABASES)
        task = Task(
            (),
            mutant.place if is_in_place else "",
            "" if is_schema or not is_in_place else key,
            original,
            mutant.text,
            fixtures if self._kept.environment else (),
            seconds_of_a_test=SECONDS_OF_A_TEST,
        )
        left = self._chosen(tests, self._files(mutant, original, copy), task.key)
        began, tried = time.monotonic(), Counter[str]()
        reaching = 0
        while left and (left_s := self._bound_s - (time.monotonic() - began)) > 0:
            result = tests.run(task._replace(tests=left, seconds=left_s))
            self._learn(result)
            tried.update(test.partition("::")[0] for test in result.ran)
            reaching += sum(is_among(key, names) for _, names in result.ran.values())
            if result.outcome in ("passed", "late"):
                left = left if result.outcome == "late" else []
                break
            if self._takes_s(copy, mutant, original, result.test) is not None:
                if result.outcome == "failed":
                    again = tests.run(task._replace(tests=[result.test]))
                    if again.outcome == "passed":  # it failed since the machine was busy
                        left = left[left.index(result.test) + 1 :]
                        continue
                    why = f"by {result.test} after {time.monotonic() - began:.0f} s"
                    return Outcome(mutant, "killed", why)
                if (self._passes[result.test] or 0) < AGAIN_S:
                    return Outcome(mutant, "killed", f"{result.test} hangs")
                return Outcome(mutant, "timed out", result.test)
            left = left[left.index(result.test) + 1 :]
        why = f"{tried.total()} tests of {len(tried)} files in {time.monotonic() - began:.0f} s"
        word = "late" if left else "tuning" if mutant.is_tuning else "survived"
        return Outcome(mutant, word, f"{why}, {reaching} of them entered it")

    def _chosen(self, tests: Tests, files: Sequence[str], key: str) -> list[str]:
        """The tests of the nearest files that may enter the function, or use the statement."""
        by_file: dict[str, list[str]] = {}
        for test in tests.collected:
            by_file.setdefault(test.partition("::")[0], []).append(test)
        chosen = (
            [test for test in by_file.get(file, ()) if self._may_enter(test, file, key)]
            for file in files
        )
        return [*chain.from_iterable(islice(filter(None, chosen), FILES))]

    def _may_enter(self, test: str, file: str, key: str) -> bool:
        if self._passes.get(test, 0.0) is None:
            return False  # it fails without a mutant
        entered = self._entered.get(test)
        if not key or entered is None or "elsewhere" in self._by_file[file]:
            return True
        return is_among(key, entered) or is_among(key, self._by_file[file])

    def _learn(self, result: Result) -> None:
        """What the first test of a file enters may be what a fixture enters, on which the others
        stand."""
        for test, (_, entered) in result.ran.items():
            file = test.partition("::")[0]
            self._entered[test] = {*entered}
            if file not in self._by_file:
                self._by_file[file] = {*entered}
            elif "elsewhere" in entered:
                self._by_file[file].add("elsewhere")

    def _takes_s(self, copy: Copy, mutant: Mutant, original: str, test: str) -> float | None:
        """The seconds of a test without the mutant; None where it fails."""
        if test not in self._passes:
            copy.write(mutant.place, original)
            fixtures = (*NODE, *DATABASES) if self._kept.environment else ()
            tests = [test]
            if test not in copy.tests.collected:  # the mutant is in the name of its parameters
                function = test.partition("[")[0]
                tests = [t for t in copy.tests.collected if t.partition("[")[0] == function]
            result = copy.tests.run(Task(tests, kept=fixtures))
            copy.write(mutant.place, mutant.text)
            passed = result.outcome == "passed" and bool(result.ran)
            self._passes[test] = sum(s for s, _ in result.ran.values()) if passed else None
            if not passed:
                print(f"fails without a mutant: {test}\n{result.text[-500:]}", file=sys.stderr)
        return self._passes[test]


def outcomes(trial: Trial, chosen: list[Mutant], copies: list[Copy]) -> Iterator[Outcome]:
    free = SimpleQueue[Copy]()
    for copy in copies:
        free.put(copy)

    def outcome(mutant: Mutant) -> Outcome:
        copy = free.get()
        try:
            copy.tests.wait()
            return trial.outcome(copy, mutant)
        finally:
            free.put(copy)

    pool = ThreadPoolExecutor(len(copies))
    try:
        for future in as_completed([pool.submit(outcome, mutant) for mutant in chosen]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--tests", default="", help="files; otherwise the nearest of all")
    parser.add_argument("--count", type=int, default=20, help="how many mutants, at random")
    parser.add_argument("--seed", type=int, help="chooses them; without it, others each time")
    parser.add_argument("--numbers", help="those of them to try, such as 1-40,77; otherwise all")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--bound", type=float, default=120, help="seconds for one, at most")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # with all servers
    seed = random.randrange(10**6) if given.seed is None else given.seed
    chosen, tally = sample(ROOT, given.only, given.count, seed), Counter[str]()
    if given.numbers:
        chosen = [chosen[number - 1] for number in _numbers(given.numbers)]
    print(f"seed {seed}, {len(chosen)} mutants", flush=True)
    with ExitStack() as stack:
        memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="scan-mutants-", dir=memory))
        )
        folder.chmod(0o755)
        servers = stack.enter_context(kept(ROOT, folder))
        copies = [
            Copy(folder / f"copy{number}", servers.environment) for number in range(given.processes)
        ]
        for copy in copies:
            stack.callback(copy.tests.close)
        trial = Trial(servers, given.bound, given.tests.split())
        for outcome in outcomes(trial, chosen, copies):
            tally[outcome.word] += 1
            print(outcome, flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items())))
    return int(tally["survived"] > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
