"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7 --results mutants.jsonl'

Each mutant is tried alone on the nearest of its tests that `make test` has: files that name its
own, or have a like name. All that live are tried together on the whole of `make test`,
and then on what `make test-all` has beside it. By halves it is looked up of which mutant a test
fails there; it must pass without any, as the machine may be busy.
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
import threading
import tokenize
from collections import Counter, defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

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
MOST_FAILURES = 40  # before that of which most fail is looked up
LIVES = "lives"  # its nearest tests
interrupted = threading.Event()


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
            compile(with_all(text, [mutant]), "mutant", "exec")
        except SyntaxError:
            return None
    return mutant


def with_all(text, mutants):
    """The text of a file with its mutants."""
    for _, _, _, start, token, replacement in sorted(mutants, key=lambda m: -m.start):
        text = text[:start] + replacement + text[start + len(token) :]
    return text


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
    """The files with tests of `make test`: first those that name a file, or its extension, then
    those of a folder and of names like its own, then short ones."""
    texts = {f: (ROOT / f).read_text(encoding="utf-8") for f in files_of_tests()}
    texts = {file: text for file, text in texts.items() if not OF_LATER_TIERS.search(text)}
    named, own, folder = _names(path), words(path), path.split("/")[-2]

    def order(file):
        is_far = folder not in file.split("/")
        return not named(texts[file]), is_far, -len(own & words(file)), len(texts[file])

    return sorted(texts, key=order)


def words(path):
    return {*re.findall(r"[a-z]+", path)}


def _names(path):
    """What searches a text for the name of an extension, of a statement or of a module."""
    *folders, name = re.escape(path.partition(".")[0]).split("/")
    match folders:
        case ["scan", "extensions", extension, *_]:
            return re.compile(rf"\bextensions[./]{extension}\b").search
        case ["sql", *rooms]:
            return re.compile(rf"\b{'/'.join([*rooms, name])}\b").search
    package = r"\.".join(folders)
    return re.compile(rf"\b{package}\.{name}\b|\bfrom {package} import .*\b{name}\b").search


def failures(folder, options, tests, bound_s):
    """Run tests, given as files and folders, or those that `failures` named. Return the names of
    those that fail, None if no test can run at all; what pytest says of the last one; and whether
    all have run."""
    last_failed = folder / ".pytest_cache" / "v" / "cache" / "lastfailed"
    if any("::" in test for test in tests):  # names may be none that a command line can have
        last_failed.write_text(json.dumps(dict.fromkeys(tests, True)))
        tests = ["--last-failed", "--last-failed-no-failures", "none"]
    elif last_failed.exists():
        last_failed.unlink()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    # In time for fixtures to end their servers.
    bounded = ["timeout", "--foreground", "--signal=INT", "--kill-after=60", str(bound_s)]
    done = subprocess.run(
        [*bounded, sys.executable, "-m", "pytest", f"--timeout={TEST_S}", *options, *tests],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
    )
    if interrupted.is_set():
        raise KeyboardInterrupt
    if done.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return [], "all tests pass", True
    lines, is_late = done.stdout.splitlines(), done.returncode in (124, 137)  # by timeout(1)
    summary = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    names = [*json.loads(last_failed.read_text())] if summary and last_failed.exists() else []
    if is_late and not names:
        return [], "not all tests have run", False
    is_cut_off = is_late or "crashed" in done.stdout or "stopping after" in done.stdout
    return names or None, (summary or lines or ["pytest ended"])[-1][:200], not is_cut_off


def _write(path, text):
    """Write a file, without the bytecode of what had its size in the same second."""
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(path)).unlink(missing_ok=True)


@contextmanager
def applied(mutants, folder):
    """Mutants in a copy of the tree."""
    by_path = defaultdict(list)
    for mutant in mutants:
        by_path[mutant.path].append(mutant)
    originals = {path: (folder / path).read_text(encoding="utf-8") for path in by_path}
    for path, of_path in by_path.items():
        _write(folder / path, with_all(originals[path], of_path))
    try:
        yield
    finally:
        for path, original in originals.items():
            _write(folder / path, original)


def tried_alone(mutant, folder):
    """Return whether the nearest tests of `make test` fail of a mutant, and not without it, and
    why."""
    options = ["-x", *ALONE, "-m", TIERS["test"]]
    with applied([mutant], folder):
        names, why, _ = failures(folder, options, tests_of(mutant.path)[:NEAREST], NEAREST_S)
    if names == []:
        return LIVES, why
    if names and failures(folder, options, names, NEAREST_S)[0]:
        return LIVES, f"{names[0]} fails without it"
    return "killed by make test", why


def tried_together(mutants, folder, markexpr, report):
    """Try mutants at once on all tests of a tier. Report each that a test fails of, and why; return
    the others, and what was said of them last."""

    def failing(of_mutants, names):
        workers = ALONE if len(names) == 1 else PARALLEL
        options = ["-m", markexpr, *workers, f"--maxfail={MOST_FAILURES}"]
        with applied(of_mutants, folder):
            return failures(folder, options, names, TIER_S)

    remaining, why, is_whole, is_reported = mutants, "no tests", False, True
    while remaining and not is_whole and is_reported:
        names, why, is_whole = failing(remaining, [])
        if names is None:
            raise SystemExit(f"no test can run with all of these mutants: {why}")
        without = (failing([], names)[0] or []) if names else []
        for name in without:
            print(f"{name} fails without them", flush=True)
        names = [name for name in names if name not in without]
        is_reported = False  # else the next run would end as this one did
        while names and remaining:
            # Of the many tests that fail of one mutant the middle one is the likeliest.
            suspects, name = remaining, names[len(names) // 2]
            while len(suspects) > 1:
                half = suspects[: len(suspects) // 2]
                suspects = suspects[len(half) :] if failing(half, [name])[0] == [] else half
            fails, reason, _ = failing(suspects, [name])
            if fails == []:
                print(f"{name} fails of several mutants at once", flush=True)
                names.remove(name)
                continue
            report(suspects[0], reason)
            is_reported = True
            remaining = [mutant for mutant in remaining if mutant is not suspects[0]]
            still, _, _ = failing(remaining, names) if remaining else ([], "", True)
            names = names if still is None else still  # none: no test can run with those left
    return remaining, "all tests pass" if is_whole else why


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path matches this pattern")
    parser.add_argument("--count", type=int, default=60, help="how many mutants, at random")
    parser.add_argument("--seed", type=int, default=60, help="chooses them")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--results", type=Path, help="a file of outcomes; what is there is kept")
    args = parser.parse_args(arguments)
    chosen = sample(args.only, args.count, args.seed)
    print(f"seed {args.seed}, {len(chosen)} mutants", flush=True)
    outcomes = _read(args.results)
    free = SimpleQueue[Path]()

    def report(outcome, mutant, why):
        outcomes[str(mutant)] = outcome
        print(f"{outcome}: {mutant}\n    {why}", flush=True)
        if args.results:
            with args.results.open("a") as file:
                file.write(json.dumps([str(mutant), outcome, why]) + "\n")

    def try_alone(mutant):
        folder = free.get()
        outcome, why = tried_alone(mutant, folder)
        free.put(folder)
        report(outcome, mutant, why)

    with (
        tempfile.TemporaryDirectory(prefix="scan-mutants-") as temporary,
        ThreadPoolExecutor(args.processes) as pool,
    ):
        for number in range(args.processes):
            folder = Path(temporary) / f"copy{number}"
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
            (folder / MODULES).symlink_to(ROOT / MODULES)
            free.put(folder)
        try:
            [*pool.map(try_alone, (m for m in chosen if str(m) not in outcomes))]
            remaining, reasons = [m for m in chosen if outcomes[str(m)] == LIVES], []
            for tier, markexpr in TIERS.items():
                killed = partial(report, f"killed by make {tier}")
                remaining, why = tried_together(remaining, folder, markexpr, killed)
                reasons.append(why)
            for mutant in remaining:
                why = ", then ".join(dict.fromkeys(reasons))
                report("tuning" if mutant.is_tuning else "survived", mutant, why)
        except KeyboardInterrupt:  # pytest has it, too, and ends
            interrupted.set()
            raise
    return _tally(chosen, [outcomes[str(mutant)] for mutant in chosen])


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
