"""The tests that reach a mutant, by what was recorded of each test."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from scan.cached_values import cached_property
from tests.mutants.reached import Reached

CREATED = re.compile(r"^CREATE (?:OR REPLACE )?\w+ (?:IF NOT EXISTS )?(\w+)", re.M)
MOST, MOST_FILES = 150, 12  # tests of a mutant, and files of tests, whose fixtures take longer


class Selection(NamedTuple):
    """Tests by node ID, those of one file together, and how many more reach the mutant."""

    tests: Sequence[str]
    left: int


@dataclass
class Selector:
    root: Path
    reached: Reached

    def of(self, mutant, original, bound_s):
        """Return tests that reach a mutant, of together at most so many seconds: those of its room
        first, then the fastest."""
        keys = self._keys(mutant, original)
        tests = {test for key in keys for test in self.reached.by_tests.get(key, ())}
        tests &= self.reached.seconds.keys()
        files = {file for key in keys for file in self.reached.by_files.get(key, ())}
        behind = {t for t in self.reached.seconds if t.partition("::")[0] in files} - tests
        room = re.sub(r"^(scan|sql)/|\bsql/", "tests/", mutant.place).split("/")[:-1]

        def rank(test):
            folder = test.partition("::")[0].split("/")[:-1]
            near = sum(a == b for a, b in zip(room, folder, strict=False))
            return -near, self.reached.seconds[test]

        ranked = [*sorted(tests, key=rank), *sorted(behind, key=rank)]
        chosen: dict[str, list[str]] = {}  # by file
        for test in ranked[:MOST]:
            file, seconds = test.partition("::")[0], self.reached.seconds[test]
            is_one_file_more = len(chosen) == MOST_FILES and file not in chosen
            if not chosen or (seconds <= bound_s and not is_one_file_more):
                chosen.setdefault(file, []).append(test)
                bound_s -= seconds
        together = [test for of_file in chosen.values() for test in of_file]
        return Selection(together, len(ranked) - len(together))

    def _keys(self, mutant, original):
        if mutant.place.endswith(".py"):
            return self._of_python(mutant, original)
        if "sql/schema/" in mutant.place:
            names = {*CREATED.findall(original)}
            return {key for key, text in self._statements if names & {*re.findall(r"\w+", text)}}
        name = re.sub(r"^.*?\bsql/|\.sql.*", "", mutant.place)
        pattern = re.compile(re.sub(r"\\{\w+\\}", r"\\w+", re.escape(name)))
        keys = {key for key in self._known if pattern.fullmatch(key)}
        if keys:
            return keys
        # It is included by others, which name it.
        stem = Path(mutant.place).name.partition(".")[0]
        including = {p for p, text in self._files if p != mutant.place and stem in text}
        stems = {re.sub(r"^.*?\bsql/|\.sql.*", "", place) for place in including}
        return {key for key in self._known if key in stems or key.partition("/")[0] in stems}

    def _of_python(self, mutant, original):
        """The function that the mutant is in; outside of functions all of its module, or of those
        that import it."""
        functions = functions_at(compile(original, mutant.place, "exec"), mutant.line)
        for function in functions:
            key = f"{mutant.place}:{function.co_firstlineno}"
            if key in self._known:
                return [key]
        if functions:
            return []
        of_module = [key for key in self._known if key.startswith(f"{mutant.place}:")]
        if of_module:
            return of_module
        module = mutant.place.removesuffix(".py").replace("/", ".")
        importing = [f"{place}:" for place, text in self._files if f"{module} import" in text]
        return [key for key in self._known if key.startswith(tuple(importing))]

    @cached_property
    def _known(self):
        return self.reached.by_tests.keys() | self.reached.by_files.keys()

    @cached_property
    def _files(self):
        paths = [p for folder in ("scan", "sql") for p in (self.root / folder).rglob("*.*")]
        return [
            (path.relative_to(self.root).as_posix(), path.read_text("utf-8"))
            for path in paths
            if path.suffix in (".py", ".sql", ".jinja")
        ]

    @cached_property
    def _statements(self):
        from scan.database.statements import read_texts

        return [(name, text) for name, text in read_texts() if name in self._known]


def functions_at(code, line):
    """Return the functions that a line is in, the innermost first."""
    return [function for function in _functions(code) if _has(function, line)][::-1]


def _functions(code):
    """Yield functions, each before those in it; of comprehensions, that around them."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 1 and constant.co_name[1:-1] not in ("listcomp", "genexpr"):
                yield constant
            yield from _functions(constant)


def _has(code, line):
    ends = (end for _, end, _, _ in code.co_positions() if end is not None)
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    last = max([code.co_firstlineno, *ends])
    return code.co_firstlineno <= line <= last or any(_has(c, line) for c in inner)
