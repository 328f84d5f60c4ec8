"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--only ^scan/extensions/streams/ --tests tests/extensions/streams'

The tests have to pass without a mutant first: where they do not, none is tried. Each mutant is
written into a copy of the tree, where the tests run until one fails. The survivors are printed, and
the exit status is 1 where there are any: a test is missing, or the change has no effect.
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
import time
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from scan.settings import ROOT

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"  # no wheel has it
NOT_COPIED = tuple(
    ".git .venv .*_cache .hypothesis node_modules __pycache__ *.egg-info build dist var".split()
)
OPTIONS = ("-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not long")
BASELINE_TIMEOUT_S = 3600
PYTHON = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "and": "or",
    "or": "and",
    "not": "",
    "True": "False",
    "False": "True",
}
SQL = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "=": "<>",
    "<>": "=",
    "+": "-",
    "-": "+",
    "AND": "OR",
    "OR": "AND",
    "NOT": "",
    "LEFT": "",
    "DISTINCT": "",
    "ASC": "DESC",
    "DESC": "ASC",
    "min": "max",
    "max": "min",
    "greatest": "least",
    "least": "greatest",
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
    for change in changes(place, text):
        if mutant := mutated(place, text, *change):
            yield mutant


def changes(place: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Offsets of the tokens of a file that can be replaced, the tokens and what replaces them."""
    is_python = place.endswith(".py")
    for start, token in python_tokens(text) if is_python else sql_tokens(text):
        replacement = (PYTHON if is_python else SQL).get(token)
        if replacement is None and token.isdecimal():
            replacement = str(int(token) + 1)
        if replacement is not None:
            yield start, token, replacement


def mutated(place: str, text: str, start: int, token: str, replacement: str) -> Mutant | None:
    changed = text[:start] + replacement + text[start + len(token) :]
    if place.endswith(".py") and not _compiles(changed):
        return None
    line = text.count("\n", 0, start)
    change = f"{token} -> {replacement or '(nothing)'}   in: {text.splitlines()[line].strip()}"
    return Mutant(place, line + 1, change, changed)


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

    def try_out(self, mutant: Mutant, tests: Sequence[str], timeout_s: float) -> str:
        """What becomes of the mutant: `survived`, `killed`, or `timed out`, which may be load."""
        original = (ROOT / mutant.place).read_text(encoding="utf-8")
        self._write(mutant.place, mutant.text)
        try:
            return "killed" if self.run(tests, timeout_s).returncode else "survived"
        except subprocess.TimeoutExpired:
            return "timed out"
        finally:
            self._write(mutant.place, original)

    def run(self, tests: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *OPTIONS, *tests],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder)},
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    def _write(self, place: str, text: str) -> None:
        """Bytecode is of a second and a size: each change has a second of its own."""
        (self._folder / place).write_text(text, encoding="utf-8")
        self._changes += 1
        os.utime(self._folder / place, (self._changes, self._changes))


def sample(only: str, count: int, seed: int) -> list[Mutant]:
    """At most that many mutants of the files whose path matches `only`, at random."""
    paths = [*(ROOT / "scan").rglob("*.py"), *(ROOT / "sql").rglob("*.sql*")]
    paths += (ROOT / "scan").rglob("*.sql*")
    places = sorted(path.relative_to(ROOT).as_posix() for path in paths)
    texts = {p: (ROOT / p).read_text(encoding="utf-8") for p in places if re.search(only, p)}
    possible = [(place, *change) for place in texts for change in changes(place, texts[place])]
    random.Random(seed).shuffle(possible)
    drawn = (mutated(place, texts[place], *change) for place, *change in possible)
    return [*islice((mutant for mutant in drawn if mutant), count)]


def baseline_s(copy: Copy, tests: Sequence[str]) -> float:
    """Run the tests without a mutant, and return their seconds. Ends the command if one fails."""
    began = time.monotonic()
    completed = copy.run(tests, BASELINE_TIMEOUT_S)
    if completed.returncode:
        sys.exit(f"{completed.stdout}{completed.stderr}The tests fail without a mutant.")
    return time.monotonic() - began


def named_tests(place: str) -> tuple[str, ...]:
    """The tests that CONTRIBUTING.md names for a change of the file, or those of its extension."""
    room = re.sub(r"^sql/(?!schema/|lists)", "scan/", place)
    if extension := re.match(r"scan/(extensions/\w+)/", room):
        return (f"tests/{extension[1]}",)
    layout = re.findall(
        r"^\| (`.*?`) \|.*\| (.*) \|$", CONTRIBUTING.read_text(encoding="utf-8"), re.M
    )
    rows = ((path, tests) for paths, tests in layout for path in re.findall(r"`(.+?)`", paths))
    named = {path: tests for path, tests in rows if room.startswith(path) and tests}
    tests = named.get(max(named, key=len, default=""), "`make check`")
    return ("-m", "check") if "make check" in tests else tuple(tests.split(", "))


def outcomes(
    chosen: list[Mutant], tests: Sequence[str], copies: list[Copy]
) -> Iterator[tuple[Mutant, str]]:
    """What becomes of each mutant, several at a time. The processor is shared, and may be busier
    than when the baseline ran."""
    timeout_s = 60 + 5 * len(copies) * baseline_s(copies[0], tests)
    free = SimpleQueue[Copy]()
    for copy in copies:
        free.put(copy)

    def outcome(mutant: Mutant) -> str:
        copy = free.get()
        try:
            return copy.try_out(mutant, tests, timeout_s)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from zip(chosen, pool.map(outcome, chosen), strict=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--tests", help="files, folders or single tests; otherwise the file's own")
    parser.add_argument("--count", type=int, default=20, help="how many mutants, at random")
    parser.add_argument(
        "--seed", type=int, help="chooses the mutants; without it, others each time"
    )
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    chosen, tally = sample(given.only, given.count, seed), Counter[str]()
    by_tests: dict[Sequence[str], list[Mutant]] = {}
    for mutant in chosen:
        tests = tuple(given.tests.split()) if given.tests else named_tests(mutant.place)
        by_tests.setdefault(tests, []).append(mutant)
    print(f"seed {seed}, {len(chosen)} mutants", flush=True)
    with tempfile.TemporaryDirectory(prefix="scan-mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(given.processes)]
        for tests, batch in by_tests.items():
            for mutant, outcome in outcomes(batch, tests, copies):
                tally[outcome] += 1
                print(f"{outcome}: {mutant}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items())))
    return int(tally["survived"] > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
