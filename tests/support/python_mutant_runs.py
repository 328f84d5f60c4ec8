"""A sample of mutants of scan/: each is written into a copy of the tree, whose tests are run.

First all tests are run once, in a copy whose sampled functions note that they are called, in
whatever process; then for each mutant those that called its function, the quickest first, until
one fails. A process that has collected the tests forks for each, and gives the function its code
in place (mutant_forks.py); what tests start reads the changed file.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, TextIO

from scan.settings import ROOT
from tests.support.mutant_targets import Change, Target
from tests.support.python_mutants import Function, functions

LEFT_OUT = (".*", "node_modules", "__pycache__", "build", "dist")
NOTES, USES = "SCAN_MUTANTS_NOTES", "SCAN_MUTANTS_USES"  # paths of files, in the environment
HANGS_S = 300  # after which a mutant's tests are ended; it is killed


class Sampled(NamedTuple):
    """A mutant of a function of a file."""

    change: Change
    function: Function

    @property
    def name(self) -> str:
        return f"{self.change.target.place}:{self.function.name}"


class Test(NamedTuple):
    """A test and how long it ran, the fixtures that it waited for included."""

    name: str
    seconds: float


def sample(only: str, count: int, seed: int) -> list[Sampled]:
    """That many mutants of files whose path matches `only`."""
    found = []
    for path in sorted((ROOT / "scan").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if not re.search(only, place):
            continue
        text = path.read_text(encoding="utf-8")
        for function in functions(text):
            target = Target(place, text, place, 1)
            found += [Sampled(Change(target, mutant), function) for mutant in function.mutants]
    random.Random(seed).shuffle(found)
    return found[:count]


class Copy:
    """A copy of the tree, in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._changes = 0
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        modules = "tests/support/node/node_modules"
        (folder / modules).symlink_to(ROOT / modules)

    def write(self, place: str, text: str) -> None:
        """Bytecode is of a second and a size: each change has a second of its own."""
        path = self.folder / place
        path.write_text(text, encoding="utf-8")
        self._changes += 1
        os.utime(path, (self._changes, self._changes))

    def record(self, tests: list[str], **environment: str) -> None:
        """Run tests once, with the plugin that notes what they call."""
        plugin = "tests.support.function_uses"
        with self._pytest(plugin, tests, (), **environment) as process:
            process.communicate()

    @contextmanager
    def trying(self, tests: list[str]) -> Iterator["Trying"]:
        """A process that has collected tests, and tries mutants with them."""
        answers, given = os.pipe()
        environment = {"SCAN_MUTANTS_ANSWERS": str(given)}
        plugin = "tests.support.mutant_forks"
        with self._pytest(plugin, ["-s", *tests], (given,), **environment) as process:
            os.close(given)
            with os.fdopen(answers) as lines:
                yield Trying(self, process, lines)
            process.communicate()

    def _pytest(
        self, plugin: str, arguments: list[str], descriptors: tuple[int, ...], **environment: str
    ) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
        return subprocess.Popen(
            [*command, "-m", "not long", "--tb=no", "-p", plugin, *arguments],
            cwd=self.folder,
            env={**os.environ, **environment, "PYTHONPATH": str(self.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors,
            text=True,
        )


class Trying(NamedTuple):
    """A process of pytest that forks for each mutant, and its answers."""

    copy: Copy
    process: subprocess.Popen[str]
    answers: TextIO

    def killer(self, sampled: Sampled, tests: list[str], seconds: float) -> str | None:
        """The test that fails with a mutant, or None."""
        target = sampled.change.target
        text = sampled.change.mutant.apply(target.text)
        request = {
            **{"file": str(self.copy.folder / target.place), "text": text, "tests": tests},
            **{"function": sampled.function.name, "seconds": seconds},
        }
        self.copy.write(target.place, text)  # for processes that tests start
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer: str | None = json.loads(self.answers.readline())
            return answer
        finally:
            self.copy.write(target.place, target.text)


def recorded(copy: Copy, chosen: list[Sampled], tests: list[str]) -> dict[str, list[Test]]:
    """The tests that called each function and passed, the quickest first."""
    notes, uses = copy.folder / "notes", copy.folder / "uses.jsonl"
    noting = {NOTES: str(notes), USES: str(uses)}
    original = {s.change.target.place: s.change.target.text for s in chosen}
    for place, text in original.items():
        of_place = {s.function.name: s.function for s in chosen if s.change.target.place == place}
        for function in sorted(of_place.values(), key=lambda f: -f.body):
            line = f"open({str(notes)!r}, 'a').write({f'{place}:{function.name}'!r} + '\\n')"
            line += "\n" + " " * function.indent
            text = text[: function.body] + line + text[function.body :]
        copy.write(place, text)
    copy.record(tests, **noting)
    of_function: dict[str, list[Test]] = {}
    for record in map(json.loads, uses.read_text().splitlines()):
        for name in record["functions"]:
            of_function.setdefault(name, []).append(Test(record["test"], record["seconds"]))
    for place, text in original.items():
        copy.write(place, text)
    return {name: sorted(t, key=lambda test: test.seconds) for name, t in of_function.items()}


def within(tests: list[Test], seconds: float) -> list[str]:
    """The names of the first tests, as many as take so long together, but at least one."""
    chosen: list[str] = []
    for test in tests:
        seconds -= test.seconds
        if chosen and seconds < 0:
            break
        chosen.append(test.name)
    return chosen


def tried(trying: Trying, sampled: Sampled, tests: list[Test], seconds: float) -> dict[str, Any]:
    """A line of the report."""
    change, chosen = sampled.change, within(tests, seconds)
    line = {"mutant": f"{change}   of {sampled.function.name}", "tests": len(tests)}
    if (reason := change.reason()) is not None:
        return {**line, "outcome": "equivalent", "detail": reason}
    if not chosen:
        return {**line, "outcome": "survived", "detail": "no test runs it"}
    killer = trying.killer(sampled, chosen, HANGS_S + seconds)
    if killer is not None:
        return {**line, "outcome": "killed", "detail": killer}
    return {**line, "outcome": "survived", "detail": f"{len(chosen)} of {len(tests)} tests passed"}


def run(given: argparse.Namespace) -> int:
    """Print the mutants that survive; 1 where there is one."""
    chosen = sample(given.only, given.python, given.shuffle or 0)
    if given.again is not None:
        lines = map(json.loads, given.again.read_text().splitlines())
        again = {line["mutant"] for line in lines if line["outcome"] == "survived"}
        chosen = [s for s in chosen if f"{s.change}   of {s.function.name}" in again]
    tests = given.tests.split()
    with tempfile.TemporaryDirectory(prefix="scan-mutants-") as folder, ExitStack() as ended:
        copies = [Copy(Path(folder) / str(number)) for number in range(given.processes)]
        of_function = recorded(copies[0], chosen, tests)
        idle = SimpleQueue[Trying]()
        for copy in copies:
            idle.put(ended.enter_context(copy.trying(tests)))

        def with_an_idle_one(sampled: Sampled) -> dict[str, Any]:
            trying = idle.get()
            try:
                return tried(trying, sampled, of_function.get(sampled.name, []), given.seconds)
            finally:
                idle.put(trying)

        with ThreadPoolExecutor(given.processes) as pool, given.report.open("w") as report:
            outcomes = [_told(line, report) for line in pool.map(with_an_idle_one, chosen)]
    survived = outcomes.count("survived")
    print(f"{len(outcomes)} mutants, {survived} survived; {given.report}")
    return int(survived > 0 or not outcomes)


def _told(line: dict[str, Any], report: Any) -> str:
    report.write(json.dumps(line) + "\n")
    report.flush()
    if line["outcome"] == "survived":
        print(f"survived: {line['mutant']}   [{line['detail']}]", flush=True)
    return str(line["outcome"])
