"""Which files of tests are the nearest to a mutant: by what they name, and by what they changed
with. A guess: what tests run is known only once they have run."""

import ast
import json
import math
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from scan.database.statements import load_statements
from tests.mutants.drawing import Mutant

CREATED = re.compile(r"^CREATE (?:OR REPLACE )?\w+ (?:IF NOT EXISTS )?(\w+)", re.M)


class Ranking:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._words = {
            path.relative_to(root).as_posix(): Counter(re.findall(r"\w+", path.read_text("utf-8")))
            for path in sorted((root / "tests").rglob("test_*.py"))
        }
        seconds = root / "tests" / "support" / "file_seconds.json"
        self._seconds = json.loads(seconds.read_text()) if seconds.exists() else {}
        self._named_in = Counter(word for words in self._words.values() for word in words)
        stems = Counter(path.name.partition(".")[0] for path in (root / "scan").rglob("*.*"))
        self._vague = {stem for stem, count in stems.items() if count > 2}  # such as `pages`
        guide = root / "CONTRIBUTING.md"
        layout = re.findall(
            r"^\| (`.*?`) \|.*\| (.*) \|$", guide.read_text() if guide.exists() else "", re.M
        )
        self._layout = [
            (path, tests) for paths, tests in layout for path in re.findall(r"`(.+?)`", paths)
        ]
        self._changed_with = _changed_with(root)

    def files(self, mutant: Mutant, original: str) -> list[str]:
        """All files of tests, the nearest and fastest first."""
        names = {*_names(mutant, original)} - self._vague
        if mutant.place.startswith("sql/") or "/sql/" in mutant.place:
            names |= {word for user in self._users(mutant.place) for word in user.split("_")}
        folder = Path(re.sub(r"^(scan|sql)/|\bsql/", "tests/", mutant.place)).parts[:-1]
        named_tests = self._named_tests(mutant.place)
        together = self._changed_with.get(mutant.place, Counter())

        def score(file: str) -> float:
            parts = Path(file).parts
            near = sum(1 for a, b in zip(folder, parts, strict=False) if a == b) - 1
            named = sum(
                math.log(len(self._words) / self._named_in[name])
                for name in names & self._words[file].keys()
            )
            of_name = len(names & {*Path(file).stem.split("_")})
            cost = math.log2(1 + self._seconds.get(file, 1.0)) / 2
            if file.startswith(named_tests):
                near += 2
            return 3 * near + named + 3 * of_name + 2 * math.log2(1 + together[file]) - cost

        return sorted(self._words, key=score, reverse=True)

    def _named_tests(self, place: str) -> tuple[str, ...]:
        """The tests that CONTRIBUTING.md names for a change of the file, or its extension's."""
        room = re.sub(r"^sql/(?!schema/|lists)", "scan/", place)
        if extension := re.match(r"scan/(extensions/\w+/)", room):
            return (f"tests/{extension[1]}",)
        named = {path: tests for path, tests in self._layout if room.startswith(path)}
        return tuple(re.findall(r"tests/[\w/.]+", named.get(max(named, key=len, default=""), "")))

    def _users(self, place: str) -> set[str]:
        """The stems of modules that name the statement."""
        name = re.sub(r".*\bsql/|\.sql.*", "", place)
        modules = (self._root / "scan").rglob("*.py")
        return {path.stem for path in modules if f'"{name}"' in path.read_text("utf-8")}


def key_of(mutant: Mutant, original: str) -> str:
    """The function that the mutant is in, as Recorder names it; that of a statement its name."""
    if not mutant.place.endswith(".py"):
        name = re.sub(r"^.*?\bsql/|\.sql.*", "", mutant.place)
        return name if "{" in name or name in load_statements() else ""
    around = _around(mutant, original)
    if not around:
        return ""
    first = min(node.lineno for node in [around[-1], *around[-1].decorator_list])
    return f"{mutant.place}:{first}"


def _around(mutant: Mutant, original: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(original))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= mutant.line <= (node.end_lineno or node.lineno)
    ]


def _names(mutant: Mutant, original: str) -> Iterator[str]:
    stem = Path(mutant.place).name.partition(".")[0]
    yield from (stem, *stem.split("_"), *(part.rstrip("s") for part in stem.split("_")))
    if mutant.place.endswith(".py"):
        yield from (function.name for function in _around(mutant, original))
    else:
        before = "".join(original.splitlines(keepends=True)[: mutant.line])
        yield from CREATED.findall(before)[-1:]


def _changed_with(root: Path) -> dict[str, Counter[str]]:
    """Of each file, how often each file of tests was changed in the same commit."""
    log = subprocess.run(
        ["git", "log", "-n", "3000", "--name-only", "--format=%x00", "--"],
        cwd=root,
        capture_output=True,
        text=True,
    ).stdout
    together: dict[str, Counter[str]] = {}
    for commit in log.split("\0"):
        files = commit.split()
        if len(files) <= 40:
            of_tests = [file for file in files if "/test_" in file]
            for file in files:
                together.setdefault(file, Counter()).update(of_tests)
    return together
