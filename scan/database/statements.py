"""The files of sql/: one statement each, with a header that says what it takes.

A statement whose header has a line `literals:` is prepared: planned once for all values, since
planning a page's statement takes longer than running it. The parameters in that line stand in the
prepared text itself, as their values decide the shape of the plan; the others are $1, $2, ….
"""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from psycopg2.extensions import AsIs

from scan.settings import ROOT

_PARAMS = re.compile(r"^-- params: (.*(?:\n--   .*)*)", re.M)
_LITERALS = re.compile(r"^-- literals: (.*(?:\n--   .*)*)", re.M)


class StatementError(Exception):
    """A file in sql/ whose header and text do not agree."""


class Statement(NamedTuple):
    """One file of sql/: `text` as psycopg2 takes it, `types` as its header declares them.

    `literals` is None for a statement that is never prepared.
    """

    name: str
    text: str
    types: Mapping[str, str]
    literals: frozenset[str] | None

    @property
    def params(self) -> frozenset[str]:
        return frozenset(self.types)


@functools.cache
def load_statements(folder: Path = ROOT / "sql") -> Mapping[str, Statement]:
    """Every statement by file name; raises StatementError where declared and used params differ.

    sql/schema/ has no statements: schema.sql includes its files.
    """
    return {
        (name := path.relative_to(folder).with_suffix("").as_posix()): _load(name, path)
        for path in sorted(folder.rglob("*.sql"))
        if path.parent != folder / "schema"
    }


def _load(name: str, path: Path) -> Statement:
    text = path.read_text(encoding="utf-8")
    header = re.match(r"(?:--[^\n]*\n)+", text)
    declared = _PARAMS.search(header.group()) if header else None
    if header is None or declared is None:
        raise StatementError(f"{name} has no header with a '-- params:' line")
    body = text[header.end() :].strip().rstrip(";")
    types = _types(declared[1])
    used = set(re.findall(r"%\((\w+)\)s", body))
    if types.keys() != used:
        raise StatementError(f"{name} declares {sorted(types)} but uses {sorted(used)}")
    literals = _LITERALS.search(header.group())
    if literals is None:
        return Statement(name, body, types, None)
    named = frozenset(_names(literals[1]))
    if not named <= used:
        raise StatementError(f"{name} has literals that are no parameters: {sorted(named - used)}")
    return Statement(name, body, types, named)


def _names(declared: str) -> list[str]:
    """`a, b` -> [a, b]; `none` -> []."""
    return [] if declared.strip() == "none" else re.findall(r"\w+", declared)


def _types(declared: str) -> dict[str, str]:
    """`a bigint, b bytea null` -> {a: bigint, b: bytea}; `none` -> {}."""
    if declared.strip() == "none":
        return {}
    words = [declaration.split() for declaration in declared.replace("\n--", " ").split(",")]
    return {name: " ".join(type_words).removesuffix(" null") for name, *type_words in words}


class Prepared(NamedTuple):
    """`execute` takes the values of `positional`, the parameters that are no literals."""

    name: str
    execute: str
    positional: Sequence[str]


def prepare(
    cursor: Any,
    statement: Statement,
    params: Mapping[str, object],
    name: str,
) -> Prepared:
    """For the literals among `params`; raises StatementError where it takes others."""
    if statement.literals is None:
        raise StatementError(f"{statement.name} has no line of literals: it is not prepared")
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    positional = [param for param in params if param not in statement.literals]
    numbered = {
        param: AsIs(f"${number}::{statement.types[param]}")
        for number, param in enumerate(positional, start=1)
    }
    text: bytes = cursor.mogrify(statement.text, {**params, **numbered})
    types = ", ".join(statement.types[param] for param in positional)
    cursor.execute(f"PREPARE {name}{f'({types})' if types else ''} AS ".encode() + text)
    placeholders = ", ".join(["%s"] * len(positional))
    execute = f"EXECUTE {name}({placeholders})" if positional else f"EXECUTE {name}"
    return Prepared(name, execute, positional)
