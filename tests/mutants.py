"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--only ^scan/extensions/streams/ --tests tests/extensions/streams'

Each mutant is written into a copy of the tree, where the tests run until one fails. The survivors
are printed, and the exit status is 1 where there are any: a test is missing, or the change has no
effect.
"""

import argparse
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from scan.settings import ROOT

NOT_COPIED = (".*", "node_modules", "__pycache__", "build", "dist")
TIMEOUT_S = 900  # a mutant whose tests take longer hangs, and counts as killed
PASSED = 0  # the status of pytest
PYTHON = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+"},
    **{"and": "or", "or": "and", "not": "", "True": "False", "False": "True"},
}
SQL = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "+": "-", "-": "+"},
    **{"AND": "OR", "OR": "AND", "NOT": "", "LEFT": "", "DISTINCT": "", "ASC": "DESC"},
    **{"DESC": "ASC", "min": "max", "max": "min", "greatest": "least", "least": "greatest"},
}
# Comments and texts come first: nothing in them is changed.
SQL_TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|%\(\w+\)s|[<>=!:|&@#~?*-]+|\+|\w+")


class Mutant(NamedTuple):
    """The text of one file in which one token is replaced."""

    place: str  # the path below the root
    line: int
    change: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.change}"


def mutants(place: str, text: str) -> Iterator[Mutant]:
    """Every mutant of a file; those of Python that do not compile are left out."""
    is_python = place.endswith(".py")
    for start, token in python_tokens(text) if is_python else sql_tokens(text):
        replacement = (PYTHON if is_python else SQL).get(token)
        if replacement is None and token.isdecimal():
            replacement = str(int(token) + 1)
        if replacement is None:
            continue
        changed = text[:start] + replacement + text[start + len(token) :]
        if is_python and not _compiles(changed):
            continue
        line = text.count("\n", 0, start)
        change = f"{token} -> {replacement or '(nothing)'}   in: {text.splitlines()[line].strip()}"
        yield Mutant(place, line + 1, change, changed)


def python_tokens(text: str) -> Iterator[tuple[int, str]]:
    """Offsets and texts of operators, names and numbers."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            yield starts[token.start[0] - 1] + token.start[1], token.string


def sql_tokens(text: str) -> Iterator[tuple[int, str]]:
    yield from ((match.start(), match[0]) for match in SQL_TOKEN.finditer(text))


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


class Copy:
    """A copy of the tree, in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changes = 0
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        modules = "tests/support/node/node_modules"
        (folder / modules).symlink_to(ROOT / modules)

    def survives(self, mutant: Mutant, tests: list[str]) -> bool:
        original = (ROOT / mutant.place).read_text(encoding="utf-8")
        self._write(mutant.place, mutant.text)
        try:
            return self._status(tests) == PASSED
        except subprocess.TimeoutExpired:
            return False
        finally:
            self._write(mutant.place, original)

    def _write(self, place: str, text: str) -> None:
        """Bytecode is of a second and a size: each change has a second of its own."""
        (self._folder / place).write_text(text, encoding="utf-8")
        self._changes += 1
        os.utime(self._folder / place, (self._changes, self._changes))

    def _status(self, tests: list[str]) -> int:
        options = ("-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not long")
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder)},
            capture_output=True,
            timeout=TIMEOUT_S,
        ).returncode


def sample(only: str, count: int, seed: int) -> list[Mutant]:
    """At most that many mutants of the files whose path matches `only`, at random."""
    paths = [*(ROOT / "scan").rglob("*.py"), *(ROOT / "sql").rglob("*.sql*")]
    paths += (ROOT / "scan").rglob("*.sql*")
    found: list[Mutant] = []
    for path in sorted(paths):
        place = path.relative_to(ROOT).as_posix()
        if re.search(only, place):
            found += mutants(place, path.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(found)
    return found[:count]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", required=True, help="files whose path matches this pattern")
    parser.add_argument("--tests", required=True, help="files or folders of tests, or single tests")
    parser.add_argument("--count", type=int, default=20, help="how many mutants, at random")
    parser.add_argument("--seed", type=int, default=1, help="another one chooses other mutants")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    given = parser.parse_args()
    chosen, tests = sample(given.only, given.count, given.seed), given.tests.split()
    with tempfile.TemporaryDirectory(prefix="scan-mutants-") as folder:
        copies = SimpleQueue[Copy]()
        for number in range(given.processes):
            copies.put(Copy(Path(folder) / str(number)))

        def survives(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return copy.survives(mutant, tests)
            finally:
                copies.put(copy)

        survived = 0
        with ThreadPoolExecutor(given.processes) as pool:
            for mutant, is_alive in zip(chosen, pool.map(survives, chosen), strict=True):
                survived += is_alive
                print(f"{'survived' if is_alive else 'killed'}: {mutant}", flush=True)
    print(f"{len(chosen)} mutants, {survived} survived")
    return int(survived > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
