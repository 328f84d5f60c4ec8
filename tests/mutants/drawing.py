"""Mutants: one operator, word or number of a file of Python or SQL is another."""

import io
import random
import re
import tokenize
from itertools import islice
from typing import NamedTuple

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


# Bounds and times whose value is a choice, which tests take from the code or set themselves: one
# more or less changes nothing that was promised.
TUNING = re.compile(
    r"\d+ -> \d+   in: (_?(MAX|MOST|LEAST)_\w+ = |_?[A-Z_]+_(S|MS) = |.*\b(timeout_ms|most)=\d)"
)


class Mutant(NamedTuple):
    """The text of one file in which one token is replaced."""

    place: str  # the path below the root
    line: int
    change: str
    text: str  # of the whole file

    @property
    def is_tuning(self):
        return TUNING.match(self.change) is not None

    def __str__(self):
        return f"{self.place}:{self.line}: {self.change}"


def mutants(place, text):
    """Every mutant of a file; those of Python that do not compile are left out."""
    for change in changes(place, text):
        if mutant := mutated(place, text, *change):
            yield mutant


def changes(place, text):
    """Offsets of the tokens of a file that can be replaced, the tokens and what replaces them."""
    is_python = place.endswith(".py")
    in_sql = ((match.start(), match[0]) for match in SQL_TOKEN.finditer(text))
    for start, token in python_tokens(text) if is_python else in_sql:
        replacement = (PYTHON if is_python else SQL).get(token)
        if replacement is None and token.isdecimal():
            replacement = str(int(token) + 1)
        if replacement is not None:
            yield start, token, replacement


def mutated(place, text, start, token, replacement):
    changed = text[:start] + replacement + text[start + len(token) :]
    if place.endswith(".py") and not _compiles(changed):
        return None
    line = text.count("\n", 0, start)
    change = f"{token} -> {replacement or '(nothing)'}   in: {text.splitlines()[line].strip()}"
    return Mutant(place, line + 1, change, changed)


def python_tokens(text):
    """Offsets and texts of operators, names and numbers."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            yield starts[token.start[0] - 1] + token.start[1], token.string


def _compiles(text):
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def sample(root, only, count, seed):
    """At most that many mutants of the files whose path matches `only`, at random."""
    paths = [*(root / "scan").rglob("*.py"), *(root / "sql").rglob("*.sql*")]
    paths += (root / "scan").rglob("*.sql*")
    places = sorted(path.relative_to(root).as_posix() for path in paths)
    texts = {p: (root / p).read_text(encoding="utf-8") for p in places if re.search(only, p)}
    possible = [(place, *change) for place in texts for change in changes(place, texts[place])]
    random.Random(seed).shuffle(possible)
    drawn = (mutated(place, texts[place], *change) for place, *change in possible)
    return [*islice((mutant for mutant in drawn if mutant), count)]
