"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7 --results mutants.jsonl'

Each mutant is tried alone: on the nearest of its tests that `make test` has, which are files that
name its own, or have a like name; where it lives, on the whole of `make test`, then on what
`make test-all` has beside it. A test that fails must pass without it, as the machine may be busy.
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
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, namedtuple
from itertools import islice
from pathlib import Path

import pytest

from scan.settings import ROOT
from tests.support.extension_tests import files_of_tests


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
PARALLEL = "--dist each --max-worker-restart 0 --numprocesses 4".split()
ALONE = ("-p", "no:xdist")
NEAREST = 6  # files of tests that a mutant is tried on alone
TIERS = {"test": "not thorough and not long", "test-all": "thorough and not long"}
OF_LATER_TIERS = re.compile(r"^pytestmark = .*\bmark\.(thorough|long)\b", re.M)
NEAREST_S, TIER_S, TEST_S = 120, 3600, 120  # of the nearest tests, of a tier's, and of one of them


class Mutant(namedtuple("Mutant", "path line change start token replacement")):
    """One token of a file that is replaced, the file named by its path below the root."""

    @property
    def is_tuning(self):
        return TUNING.match(self.change) is not None

    def __str__(self):
        return f"{self.path}:{self.line}: {self.change}"


def changes(path, text):
    """Offsets of the tokens of a file that can be replaced, the tokens and what replaces them."""
    is_python = path.endswith(".py")
    in_sql = ((match.start(), match[0]) for match in SQL_TOKEN.finditer(text))
    for start, token in _python_tokens(text) if is_python else in_sql:
        replacement = (PYTHON if is_python else SQL).get(token)
        if replacement is None and token.isdecimal():
            replacement = str(int(token) + 1)
        if replacement is not None:
            yield start, token, replacement


def mutated(path, text, start, token, replacement):
    """The mutant of a change; None for Python that does not compile."""
    line = text.count("\n", 0, start)
    change = f"{token} -> {replacement or '(nothing)'}   in: {text.splitlines()[line].strip()}"
    mutant = Mutant(path, line + 1, change, start, token, replacement)
    if path.endswith(".py"):
        try:
            compile(with_change(text, mutant), "mutant", "exec")
        except SyntaxError:
            return None
    return mutant


def with_change(text, mutant):
    """The text of a file with its mutant."""
    _, _, _, start, token, replacement = mutant
    return text[:start] + replacement + text[start + len(token) :]


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
    names = sorted(p.relative_to(ROOT).as_posix() for p in paths if "tests" not in p.parts)
    texts = {p: (ROOT / p).read_text(encoding="utf-8") for p in names if re.search(only, p)}
    possible = [(path, *change) for path in texts for change in changes(path, texts[path])]
    random.Random(seed).shuffle(possible)
    drawn = (mutated(path, texts[path], *change) for path, *change in possible)
    return [*islice((mutant for mutant in drawn if mutant), count)]


def tests_of(path):
    """The files with tests of `make test`: first those that name a file, then those whose path has
    more of its words, then short ones."""
    texts = {f: (ROOT / f).read_text(encoding="utf-8") for f in files_of_tests()}
    texts = {file: text for file, text in texts.items() if not OF_LATER_TIERS.search(text)}
    name = re.compile(rf"\b{Path(path).name.partition('.')[0]}\b")

    def order(file):
        return not name.search(texts[file]), -len(words(path) & words(file)), len(texts[file])

    return sorted(texts, key=order)


def words(path):
    return {*re.findall(r"[a-z]+", path)}


def failing(folder, options, tests, bound_s):
    """The first test that fails, "" of none, "no test" where none can run."""
    # In time for fixtures to end their servers.
    bounded = ["timeout", "--foreground", "--signal=INT", "--kill-after=60", str(bound_s)]
    done = subprocess.run(
        [
            *bounded,
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-rfE",  # what fails is named, whatever the settings say
            f"--timeout={TEST_S}",
            *options,
            *tests,
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
    )
    if done.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    return failed[1] if failed else "no test"


def tried(mutant, folder):
    """Which tests a mutant fails of, and which one it is; it survives all others."""
    path, text = folder / mutant.path, (folder / mutant.path).read_text(encoding="utf-8")
    nearest = tests_of(mutant.path)[:NEAREST]
    for tier, options, tests, bound_s in (
        ("test", [*ALONE, "-m", TIERS["test"]], nearest, NEAREST_S),
        *((tier, [*PARALLEL, "-m", markexpr], [], TIER_S) for tier, markexpr in TIERS.items()),
    ):
        path.write_text(with_change(text, mutant), encoding="utf-8")
        name = failing(folder, options, tests, bound_s)
        path.write_text(text, encoding="utf-8")
        alone = [name.partition("[")[0]] if "::" in name else tests
        if name and not failing(folder, [*ALONE, "-m", TIERS[tier]], alone, bound_s):
            return f"killed by make {tier}", name
    return "tuning" if mutant.is_tuning else "survived", "all tests pass"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--count", type=int, default=60, help="how many mutants, at random")
    parser.add_argument("--seed", type=int, default=60, help="chooses them")
    parser.add_argument("--results", type=Path, help="a file of outcomes; what is there is kept")
    args = parser.parse_args(arguments)
    chosen = sample(args.only, args.count, args.seed)
    print(f"seed {args.seed}, {len(chosen)} mutants", flush=True)
    outcomes = {}
    if args.results and args.results.exists():
        outcomes = dict(map(json.loads, args.results.read_text().splitlines()))
    with tempfile.TemporaryDirectory(prefix="scan-mutants-") as temporary:
        folder = Path(temporary) / "copy"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (folder / MODULES).symlink_to(ROOT / MODULES)
        for mutant in (mutant for mutant in chosen if str(mutant) not in outcomes):
            outcomes[str(mutant)], why = tried(mutant, folder)
            print(f"{outcomes[str(mutant)]}: {mutant}\n    {why}", flush=True)
            if args.results:
                with args.results.open("a") as file:
                    file.write(json.dumps([str(mutant), outcomes[str(mutant)]]) + "\n")
    tally = Counter(outcomes[str(mutant)] for mutant in chosen)
    print(", ".join(f"{count} {word}" for word, count in sorted(tally.items())))
    return int(tally["survived"] > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
