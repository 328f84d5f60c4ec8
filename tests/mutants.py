"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7'

Of each mutant the tests of its layer or extension run, or those that are named. The survivors are
printed, and the exit status is 1 where there are any: a test is missing, or the change has no
effect.
"""

import argparse
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

import psutil

from scan.settings import ROOT


def _both_ways(pairs):
    words = pairs.split()
    ways = zip(words[::2] + words[1::2], words[1::2] + words[::2], strict=True)
    return dict(ways)


PYTHON = _both_ways("< <= > >= == != + - and or True False") | {"not": ""}
SQL = _both_ways("< <= > >= = <> + - AND OR ASC DESC min max greatest least")
SQL |= dict.fromkeys(("NOT", "LEFT", "DISTINCT"), "")
# Comments and texts come first: nothing in them is changed.
SQL_TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|%\(\w+\)s|[<>=!:|&@#~?*-]+|\+|\w+")
# Bounds and times whose value is a choice, which tests take from the code or set themselves: one
# more or less changes nothing that was promised.
TUNING = re.compile(
    r"\d+ -> \d+   in: (_?(MAX|MOST|LEAST)_\w+ = |_?[A-Z_]+_(S|MS) = |.*\b(timeout_ms|most)=\d)"
)
NOT_COPIED = tuple(".git .venv .*_cache .hypothesis node_modules *.egg-info build dist var".split())
MODULES = "tests/support/node/node_modules"
PYTEST = "pytest -p no:cacheprovider -p no:xdist -m".split()
END_S = 20.0  # for fixtures to end their servers


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
    places = sorted(path.relative_to(ROOT).as_posix() for path in paths)
    texts = {p: (ROOT / p).read_text(encoding="utf-8") for p in places if re.search(only, p)}
    possible = [(place, *change) for place in texts for change in changes(place, texts[place])]
    random.Random(seed).shuffle(possible)
    drawn = (mutated(place, texts[place], *change) for place, *change in possible)
    return [*islice((mutant for mutant in drawn if mutant), count)]


def tests_of(place):
    """Return the folders with the tests of a file: of its extension, or of its layer."""
    package, room, *names = place.split("/")
    if room == "extensions":
        return [f"{package}/{room}/{names[0]}/tests"]
    if (ROOT / "tests" / room).is_dir():
        return [f"tests/{room}"]
    layers = ("database", "audit") if room == "schema" else ("commands", "api")
    return [f"tests/{layer}" for layer in layers]


def failure(folder, tests, bound_s):
    """Run tests until one fails, and return what pytest says of it; None where all pass."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    output = folder / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", *PYTEST, "not long", "-x", *tests],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        if process.wait(bound_s) == 0:
            return None
    except subprocess.TimeoutExpired:
        _end(process)
        return f"one of {', '.join(tests)} hangs"
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


def _write(path, text):
    """Write a file, without the bytecode of what had its size in the same second."""
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(path)).unlink(missing_ok=True)


def tried(mutant, folder, tests, bound_s):
    """Return how a mutant ended in a copy of the tree, and say why."""
    path = folder / mutant.place
    original = path.read_text(encoding="utf-8")
    _write(path, mutant.text)
    try:
        why = failure(folder, tests or tests_of(mutant.place), bound_s)
    finally:
        _write(path, original)
    word = "killed" if why else "tuning" if mutant.is_tuning else "survived"
    print(f"{word}: {mutant}\n    {why or 'all tests pass'}", flush=True)
    return word


def main():
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--tests", default="", help="folders or files of tests for all mutants")
    parser.add_argument("--count", type=int, default=20, help="how many mutants, at random")
    parser.add_argument("--seed", type=int, help="chooses them; without it, others each time")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--bound", type=float, default=900, help="seconds after which tests hang")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    chosen = sample(given.only, given.count, seed)
    print(f"seed {seed}, {len(chosen)} mutants", flush=True)
    free = SimpleQueue[Path]()

    def outcome(mutant):
        folder = free.get()
        try:
            return tried(mutant, folder, given.tests.split(), given.bound)
        finally:
            free.put(folder)

    with (
        tempfile.TemporaryDirectory(prefix="scan-mutants-") as temporary,
        ThreadPoolExecutor(given.processes) as pool,
    ):
        for number in range(given.processes):
            folder = Path(temporary) / f"copy{number}"
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
            (folder / MODULES).symlink_to(ROOT / MODULES)
            free.put(folder)
        tally = Counter(pool.map(outcome, chosen))
    print(", ".join(f"{count} {word}" for word, count in sorted(tally.items())))
    return int(tally["survived"] > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
