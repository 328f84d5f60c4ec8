"""Mutants of Python and SQL: one operator, word or number changed at a time; does a test fail?

    make mutants ARGS='--count 300 --seed 7'

Of each mutant the tests of its layer or extension run, or those that are named. The survivors are
printed, and the exit status is 1 where there are any: a test is missing, or the change has no
effect.
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue

import psutil

from scan.settings import ROOT
from tests.mutants.drawing import sample

NOT_COPIED = tuple(".git .venv .*_cache .hypothesis node_modules *.egg-info build dist var".split())
PYTEST = "pytest -p no:cacheprovider -p no:xdist -m".split()
END_S = 20.0  # for fixtures to end their servers


def tests_of(place):
    """Return the folders with the tests of a file: of its extension, or of its layer."""
    package, room, *names = place.split("/")
    if room == "extensions":
        return [f"{package}/{room}/{names[0]}/tests"]
    if (ROOT / "tests" / room).is_dir():
        return [f"tests/{room}"]
    return (
        ["tests/database", "tests/audit"] if room == "schema" else ["tests/commands", "tests/api"]
    )


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
    chosen = sample(ROOT, given.only, given.count, seed)
    print(f"seed {seed}, {len(chosen)} mutants", flush=True)
    free = SimpleQueue[Path]()

    def outcome(mutant):
        folder = free.get()
        try:
            return tried(mutant, folder, given.tests.split(), given.bound)
        finally:
            free.put(folder)

    modules = "tests/support/node/node_modules"
    with (
        tempfile.TemporaryDirectory(prefix="scan-mutants-") as temporary,
        ThreadPoolExecutor(given.processes) as pool,
    ):
        for number in range(given.processes):
            folder = Path(temporary) / f"copy{number}"
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
            (folder / modules).symlink_to(ROOT / modules)
            free.put(folder)
        tally = Counter(pool.map(outcome, chosen))
    print(", ".join(f"{count} {word}" for word, count in sorted(tally.items())))
    return int(tally["survived"] > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
