"""Scan's own statements for a driver that prepares them: values as $1::bigint, choices written in.

What decides the shape of a plan (direction, the list, which filters are given) stays in the text;
each choice is then a statement that is prepared once.
"""

import re
from typing import NamedTuple

from scan.database.connection import load_statements
from scan.settings import ROOT

CHOICES = ("direction", "list")


class Numbered(NamedTuple):
    text: str
    names: list[str]  # in the order of their numbers


class Statements:
    """Every statement of sql/ by name."""

    def __init__(self) -> None:
        self._texts = {name: s.text for name, s in load_statements().items()}
        self._types = {name: _types(name) for name in self._texts}
        self._numbered: dict[tuple[object, ...], Numbered] = {}

    def numbered(self, name: str, params: dict[str, object]) -> Numbered:
        """`params` may hold more than the statement takes."""
        types = self._types[name]
        written = {key: params[key] for key in types if _is_written(key, params[key])}
        key = (name, *written.items())
        found = self._numbered.get(key)
        if found is None:
            found = self._numbered[key] = _number(self._texts[name], types, written)
        return found


def _is_written(key: str, value: object) -> bool:
    return value is None or isinstance(value, bool) or key in CHOICES


def _number(text: str, types: dict[str, str], written: dict[str, object]) -> Numbered:
    names = [name for name in types if name not in written]

    def place(match: re.Match[str]) -> str:
        name = match[1]
        value = _literal(written[name]) if name in written else f"${names.index(name) + 1}"
        return f"{value}::{types[name]}"

    return Numbered(re.sub(r"%\((\w+)\)s", place, text).replace("%%", "%"), names)


def _literal(value: object) -> str:
    """Of the few values that are written in: null, true or false, or one of our own words."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, bool) else f"'{value}'"


def _types(name: str) -> dict[str, str]:
    """Parameters and their types from a statement's header."""
    text = (ROOT / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    declared = re.search(r"^-- params: (.*(?:\n--   .*)*)", text, re.M)
    if declared is None or declared[1].strip() == "none":
        return {}
    parts = declared[1].replace("\n--", " ").split(",")
    return {part.split()[0]: part.split()[1] for part in parts}
