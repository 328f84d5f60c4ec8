"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7 --results mutants.jsonl'

Of each mutant those of its tests run that `make test` has, and if they pass, those that `make
test-all` has beside them. Its tests are those of its layer or extension, and whatever names it; the
nearest ones run first. One that fails by time is tried without the mutant as well: the machine may
be busy.
What survives is printed, and the exit status is 1 where there is any: a test is missing, or the
change has no effect. With --results a run that was interrupted continues where it was.
"""

import argparse
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tokenize
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

import psutil
import pytest

from scan.settings import ROOT
from tests.support import tiers


def _both_ways(pairs):
    words = pairs.split()
    ways = zip(words[::2] + words[1::2], words[1::2] + words[::2], strict=True)
    return dict(ways)


PYTHON = _both_ways("< <= > >= == != + - and or True False") | {"not": ""}
SQL = _both_ways("< <= > >= = <> + - AND OR ASC DESC min max greatest least")
SQL |= dict.fromkeys(("NOT", "LEFT", "DISTINCT"), "")
# Comments and texts come first: nothing in them is changed.
# Nor are the marks of templates that take blanks away.
SQL_TOKEN = re.compile(
    r"--[^\n]*|'(?:[^']|'')*'|%\(\w+\)s|\{[%{#]-|-[%}#]\}|[<>=!:|&@#~?*-]+|\+|\w+"
)
# Bounds and times whose value is a choice, which tests take from the code or set themselves: one
# more or less changes nothing that was promised.
TUNING = re.compile(
    r"\d+ -> \d+   in: (_?(MAX|MOST|LEAST)_\w+ = |_?[A-Z_]+_(S|MS) = |.*\b(timeout_ms|most)=\d)"
)
NOT_COPIED = tuple(".git .venv .*_cache .hypothesis node_modules *.egg-info build dist var".split())
MODULES = "tests/support/node/node_modules"
PYTEST = "pytest -x -p no:cacheprovider -p no:xdist".split()
NEAREST = 6  # files of tests whose run is worth a start of pytest before that of the others
# Of a reason: a busy machine may be one.
BY_TIME = re.compile(r"Timeout|\btimed out\b|\bin time\b|waited in vain")
TIERS = {"test": "not thorough and not long", "test-all": "thorough and not long"}
END_S = 20.0  # for fixtures to end their servers
interrupted = threading.Event()


Times = namedtuple("Times", "bound_s hangs_s")  # of the tests of a tier, and of one test


class Mutant(namedtuple("Mutant", "place line change text")):
    """The text of one file, named by its path below the root, in which one token is replaced."""

    @property
    def is_tuning(self):
        return TUNING.match(self.change) is not None

    def __str__(self):
        return f"{self.place}:{self.line}: {self.change}"


def changes(place, text):
    """Offsets of the tokens of a file that can be replaced, the tokens and what replaces them."""
    is_python = place.endswith(".py")
    in_sql = ((match.start(), match[0]) for match in SQL_TOKEN.finditer(text))
    for start, token in _python_tokens(text) if is_python else in_sql:
        replacement = (PYTHON if is_python else SQL).get(token)
        if replacement is None and token.isdecimal():
            replacement = str(int(token) + 1)
        if replacement is not None:
            yield start, token, replacement


def mutated(place, text, start, token, replacement):
    """The mutant of a change; None for Python that does not compile."""
    changed = text[:start] + replacement + text[start + len(token) :]
    if place.endswith(".py"):
        try:
            compile(changed, "mutant", "exec")
        except SyntaxError:
            return None
    line = text.count("\n", 0, start)
    change = f"{token} -> {replacement or '(nothing)'}   in: {text.splitlines()[line].strip()}"
    return Mutant(place, line + 1, change, changed)


def _python_tokens(text):
    """Offsets and texts of operators, names and numbers."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            yield starts[token.start[0] - 1] + token.start[1], token.string


def sample(only, count, seed):
    """At most that many mutants of the files whose path matches `only`, at random."""
    paths = [*(ROOT / "scan").rglob("*.py"), *(ROOT / "sql").rglob("*.sql*")]
    paths += (ROOT / "scan").rglob("*.sql*")
    places = sorted(p.relative_to(ROOT).as_posix() for p in paths if "tests" not in p.parts)
    texts = {p: (ROOT / p).read_text(encoding="utf-8") for p in places if re.search(only, p)}
    possible = [(place, *change) for place in texts for change in changes(place, texts[place])]
    random.Random(seed).shuffle(possible)
    drawn = (mutated(place, texts[place], *change) for place, *change in possible)
    return [*islice((mutant for mutant in drawn if mutant), count)]


def tests_of(place):
    """The files with the tests of a file: those that name it, then those of its extension, or those
    which CONTRIBUTING.md names for its layer; of these, files of like names, then quick ones."""
    cost = tiers.seconds_by_file(tiers.TIERS)
    texts = {f: (ROOT / f).read_text(encoding="utf-8") for f in tiers.test_files(ROOT)}
    names, layers = _names(place), _layers(place)
    own = words(place)

    def order(file):
        return not names(texts[file]), -len(own & words(file)), cost[file]

    chosen = [f for f in texts if f.startswith(layers) or names(texts[f])]
    return sorted(chosen, key=order)


def words(path):
    return {*re.findall(r"[a-z]+", path)}


def _names(place):
    """What searches a text for the name of an extension, of a statement or of a module."""
    *folders, name = re.escape(place.partition(".")[0]).split("/")
    match folders:
        case ["scan", "extensions", extension, *_]:
            return re.compile(rf"\bextensions[./]{extension}\b").search
        case ["sql", *rooms]:
            return re.compile(rf"\b{'/'.join([*rooms, name])}\b").search
    package = r"\.".join(folders)
    return re.compile(rf"\b{package}\.{name}\b|\bfrom {package} import .*\b{name}\b").search


def _layers(place):
    """Beginnings of the paths of its tests."""
    match place.split("/"):
        case ["scan", "extensions", extension, *_]:
            return (f"scan/extensions/{extension}/tests/",)
        case [_, room, *_]:
            layers = f"scan/{room}/", f"sql/{room}/"
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in text.splitlines() if row.startswith("| `")]
    tests = [row[-1] for row in rows if any(f"`{layer}`" in row[0] for layer in layers)]
    found = re.findall(r"[\w/]+/[\w/.]+", " ".join(tests))
    return tuple(found) or ("tests/api/", "tests/commands/")


def failure(folder, tests, markexpr, times):
    """Run tests until one fails. Return the names of those that do, None if no test can run at
    all, and what pytest says."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    output = folder / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", *PYTEST, f"--timeout={times.hangs_s}", "-m", markexpr, *tests],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,  # so that Ctrl-C comes here alone
        )
    try:
        if process.wait(times.bound_s) in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            return [], "all tests pass"
    except subprocess.TimeoutExpired:
        _end(process.pid)
        return [], "not all tests have run"
    finally:
        if interrupted.is_set():
            raise KeyboardInterrupt
    lines = output.read_text(errors="replace").splitlines()
    said = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    names = [line.partition(" ")[2].partition(" - ")[0] for line in said]
    return names or None, (said or lines or ["pytest ended"])[-1][:200]


def _end(pid):
    process = psutil.Process(pid)
    process.send_signal(signal.SIGINT)
    with suppress(psutil.TimeoutExpired):
        process.wait(END_S)
        return
    for started in [*process.children(recursive=True), process]:
        with suppress(psutil.NoSuchProcess):
            started.kill()


def _write(path, text):
    """Write a file, without the bytecode of what had its size in the same second."""
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(path)).unlink(missing_ok=True)


def tried(mutant, folder, tests, times):
    """Return which tier of tests fails of a mutant in a copy of the tree, and why."""
    reasons = []
    for tier, markexpr in TIERS.items():
        for files in parts(tests or tests_of(mutant.place), markexpr):
            killed, why = _killed(mutant, folder, files, markexpr, times)
            if killed:
                return f"killed by make {tier}", ("by time: " if BY_TIME.search(why) else "") + why
            reasons.append(why)
    outcome = "tuning" if mutant.is_tuning else "survived"
    return outcome, ", then ".join(dict.fromkeys(reasons)) or "no tests"


def parts(tests, markexpr):
    """The tests of a tier, the nearest ones first, each part for one start of pytest."""
    chosen = tiers.tiers_of_run(markexpr)
    files = [f for f in tests if not f.endswith(".py") or tiers.tiers_of_file(ROOT / f) & chosen]
    return [part for part in (files[:NEAREST], files[NEAREST:]) if part]


def _killed(mutant, folder, files, markexpr, times):
    """Whether a test fails with a mutant, and why. What is not done in time without it as well is
    left out."""
    path, end_s = folder / mutant.place, time.monotonic() + times.bound_s
    original = path.read_text(encoding="utf-8")
    left_out: list[str] = []
    while True:
        arguments = [*files, *(f"--deselect={name}" for name in left_out)]
        _write(path, mutant.text)
        left = times._replace(bound_s=max(1, end_s - time.monotonic()))
        try:
            names, why = failure(folder, arguments, markexpr, left)
        finally:
            _write(path, original)
        if names == []:
            return False, why + "".join(f", {name} fails without it" for name in left_out)
        if not names or not BY_TIME.search(why) or not failure(folder, names, markexpr, times)[0]:
            return True, why
        left_out += names
        files = _from(files, names[0])


def _from(files, name):
    """The files from that of a test on, which are still to be run."""
    file = name.partition("::")[0]
    return files[files.index(file) :] if file in files else files


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--tests", default="", help="folders or files of tests for all mutants")
    parser.add_argument("--count", type=int, default=60, help="how many mutants, at random")
    parser.add_argument("--skip", type=int, default=0, help="how many of them were tried before")
    parser.add_argument("--seed", type=int, default=60, help="chooses them")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--bound", type=float, default=300, help="seconds for the tests of a tier")
    parser.add_argument("--hangs", type=float, default=120, help="seconds after which a test fails")
    parser.add_argument("--results", type=Path, help="a file of outcomes; what is there is kept")
    given = parser.parse_args(arguments)
    chosen = sample(given.only, given.count, given.seed)[given.skip :]
    print(f"seed {given.seed}, {len(chosen)} mutants", flush=True)
    known = _read(given.results)
    free = SimpleQueue[Path]()

    def outcome(mutant):
        if str(mutant) in known:
            return known[str(mutant)]
        folder = free.get()
        try:
            outcome, why = tried(
                mutant, folder, given.tests.split(), Times(given.bound, given.hangs)
            )
        finally:
            free.put(folder)
        print(f"{outcome}: {mutant}\n    {why}", flush=True)
        if given.results:
            with given.results.open("a") as file:
                file.write(json.dumps([str(mutant), outcome, why]) + "\n")
        return outcome

    with (
        tempfile.TemporaryDirectory(prefix="scan-mutants-") as temporary,
        ThreadPoolExecutor(given.processes) as pool,
    ):
        for number in range(given.processes):
            folder = Path(temporary) / f"copy{number}"
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
            (folder / MODULES).symlink_to(ROOT / MODULES)
            free.put(folder)
        try:
            outcomes = [*pool.map(outcome, chosen)]
        except KeyboardInterrupt:
            interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for process in psutil.Process().children():
                _end(process.pid)
            raise
    return _tally(chosen, outcomes)


def _read(results):
    """Outcomes by mutant, of a file that an earlier run of this commit has written."""
    if not results or not results.exists():
        return {}
    rows = map(json.loads, results.read_text().splitlines())
    return {mutant: outcome for mutant, outcome, _ in rows}


def _tally(mutants, outcomes):
    tally = Counter(outcomes)
    print(", ".join(f"{count} {word}" for word, count in sorted(tally.items())))
    by_test, by_rest = (tally[f"killed by make {tier}"] for tier in TIERS)
    if by_test + by_rest:
        share = by_test / (by_test + by_rest)
        print(f"make test kills {share:.0%} of what make test-all kills; it lets live")
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        if outcome == "killed by make test-all":
            print(f"    {mutant}")
    return int(tally["survived"] > 0 or not mutants)


if __name__ == "__main__":
    sys.exit(main())
