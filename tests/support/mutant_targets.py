"""Statements and functions of the schema of which tests/mutants.py makes mutants."""

import functools
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from scan.database import statements as loader
from scan.database.migrations import read_schema
from scan.database.statements import Statement
from scan.settings import ROOT
from tests.support.equivalent_mutants import EQUIVALENT
from tests.support.sql_mutants import Mutant, mutants

# Statements and schema files of which mutants are made: those of lists, then of derived tables.
LISTS = re.compile(
    r"queries/\w+_list(_by_\w+|_holders|_items)?|queries/lists_\w+|queries/history_\w+"
)
DERIVED = re.compile(
    r"indexer/\w+_(derive|unwind|checkpoints|add_holders|refresh|restore_last_seen)"
)
LIST_FILES = ("lists.sql", "list_checkpoints.sql.j2", "list_records.sql.j2")
DERIVED_FILES = ("changes.sql", "expected.sql")
FUNCTION = re.compile(r"^CREATE OR REPLACE FUNCTION (\w+)\(.*?(?:\$\$;|^RETURN .*?;)$", re.M | re.S)


class Target(NamedTuple):
    """A statement of sql/, or a function of sql/schema/, and where its text stands."""

    name: str  # of the statement; `function()` of a function
    text: str
    place: str
    line: int

    @property
    def is_function(self) -> bool:
        return self.name.endswith("()")


class Change(NamedTuple):
    """A mutant and whose it is."""

    target: Target
    mutant: Mutant

    @property
    def original(self) -> str:
        return " ".join(self.target.text[self.mutant.start : self.mutant.end].split())

    def __str__(self) -> str:
        target, mutant = self.target, self.mutant
        line = target.line + target.text.count("\n", 0, mutant.start)
        shown = mutant.replacement if mutant.kind != "branch" else "(no rows)"
        text = f"{target.place}:{line}: {mutant.kind}: {self.original} -> {shown or '(nothing)'}"
        return text if len(self.original) > 12 else f"{text}   in: {self.line()}"

    def line(self) -> str:
        """The whole line that the mutant ends in."""
        before, after = self.target.text[: self.mutant.end], self.target.text[self.mutant.end :]
        return (before.rpartition("\n")[2] + after.partition("\n")[0]).strip()

    def reason(self) -> str | None:
        """Why no test can notice it, where EQUIVALENT says so."""
        texts = (self.original, f"{self.original}   in: {self.line()}")
        for pattern, original, reason in EQUIVALENT:
            if re.fullmatch(pattern, self.target.name) and any(
                re.fullmatch(original, text) for text in texts
            ):
                return reason
        return None


def targets(loaded: Mapping[str, Statement]) -> list[Target]:
    """Everything of which mutants are made, lists first."""
    lists = [_of_statement(s) for name, s in loaded.items() if LISTS.fullmatch(name)]
    derived = [_of_statement(s) for name, s in loaded.items() if DERIVED.fullmatch(name)]
    functions = [
        f for f in functions_of_schema() if Path(f.place).name in LIST_FILES + DERIVED_FILES
    ]
    return lists + functions + derived


def all_changes(loaded: Mapping[str, Statement]) -> list[Change]:
    """Every mutant of every target; what several statements of one template have alike, once.

    What stands in several branches of one statement is changed in each of them.
    """
    changes: dict[tuple[object, ...], Change] = {}
    for target in targets(loaded):
        occurrences: Counter[tuple[str, ...]] = Counter()
        is_rendered = target.place == target.name
        for mutant in mutants(target.text):
            change = Change(target, mutant)
            whose = _template(target.name) if is_rendered else f"{target.name} {mutant.start}"
            key = (whose, mutant.kind, change.original, mutant.replacement, change.line())
            occurrences[key] += 1
            changes.setdefault((*key, occurrences[key]), change)
    return list(changes.values())


def _template(name: str) -> str:
    """`queries/dex_trades_by_pool_list_by_filters` -> list_by_filters."""
    if (ROOT / "sql" / f"{name}{loader.TEMPLATE}").exists():  # the only one of its template
        return name
    return name[name.rindex("_list") :] if "_list" in name else name.rpartition("_")[2]


def _of_statement(statement: Statement) -> Target:
    path = ROOT / "sql" / f"{statement.name}.sql"
    if not path.exists():  # it is rendered: its own lines are those that the loader prints
        return Target(statement.name, statement.text, statement.name, 1)
    text = path.read_text(encoding="utf-8")
    line = text.count("\n", 0, text.find(statement.text)) + 1
    return Target(statement.name, statement.text, path.relative_to(ROOT).as_posix(), line)


@functools.cache
def functions_of_schema() -> list[Target]:
    """Every function of sql/schema/, templates rendered."""
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "sql/schema").iterdir()}
    functions = []
    for match in FUNCTION.finditer(read_schema()):
        begin = match[0].partition("(")[0]
        path = next((path for path, text in files.items() if f"{begin}(" in text), None)
        if path is not None:
            line = files[path].count("\n", 0, files[path].index(f"{begin}(")) + 1
            place = path.relative_to(ROOT).as_posix()
            functions.append(Target(f"{match[1]}()", match[0], place, line))
    return functions


def calls(text: str, function: str) -> bool:
    """Whether the text calls a function of the schema, also through others."""
    call = function.removesuffix("()") + "("
    return call in text or any(name in text for name in _callers(function))


@functools.cache
def _callers(function: str) -> set[str]:
    """How functions of the schema are called that call the function, also through others."""
    call = function.removesuffix("()") + "("
    direct = {f.name for f in functions_of_schema() if call in f.text and f.name != function}
    return {f"{name.removesuffix('()')}(" for name in direct}.union(*map(_callers, direct))
