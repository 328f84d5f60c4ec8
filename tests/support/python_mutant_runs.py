"""A sample of mutants of scan/: each is written into a copy of the tree, whose tests are run.

First all tests are run once, in a copy whose sampled functions note that they are called, in
whatever process; then for each mutant those that called its function, the quickest first, until
one fails.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

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

    def test(self, arguments: list[str], timeout_s: float | None, **environment: str) -> str | None:
        """Run tests until one fails; its name, or None where all pass."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [*command, "-m", "not long", "--no-header", "--tb=no", *arguments],
            cwd=self.folder,
            env={**os.environ, **environment, "PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.terminate()  # pytest ends its servers
            process.communicate()
            return "it hangs"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
        if process.returncode in (0, 5):
            return None
        return failed[1] if failed else f"pytest ended with {process.returncode}"


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
    copy.test(["-p", "tests.support.function_uses", *tests], None, **noting)
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


def tried(copy: Copy, sampled: Sampled, tests: list[Test], seconds: float) -> dict[str, Any]:
    """A line of the report."""
    change, chosen = sampled.change, within(tests, seconds)
    line = {"mutant": f"{change}   of {sampled.function.name}", "tests": len(tests)}
    if (reason := change.reason()) is not None:
        return {**line, "outcome": "equivalent", "detail": reason}
    if not chosen:
        return {**line, "outcome": "survived", "detail": "no test runs it"}
    copy.write(change.target.place, change.mutant.apply(change.target.text))
    try:
        killer = copy.test(["-x", "--timeout=60", *chosen], HANGS_S + seconds)
    finally:
        copy.write(change.target.place, change.target.text)
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
    with tempfile.TemporaryDirectory(prefix="scan-mutants-") as folder:
        copies = SimpleQueue[Copy]()
        for number in range(given.processes):
            copies.put(Copy(Path(folder) / str(number)))
        first = copies.get()
        of_function = recorded(first, chosen, given.tests.split())
        copies.put(first)

        def in_a_copy(sampled: Sampled) -> dict[str, Any]:
            copy = copies.get()
            try:
                return tried(copy, sampled, of_function.get(sampled.name, []), given.seconds)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(given.processes) as pool, given.report.open("w") as report:
            outcomes = [_told(line, report) for line in pool.map(in_a_copy, chosen)]
    survived = outcomes.count("survived")
    print(f"{len(outcomes)} mutants, {survived} survived; {given.report}")
    return int(survived > 0 or not outcomes)


def _told(line: dict[str, Any], report: Any) -> str:
    report.write(json.dumps(line) + "\n")
    report.flush()
    if line["outcome"] == "survived":
        print(f"survived: {line['mutant']}   [{line['detail']}]", flush=True)
    return str(line["outcome"])
