"""Scan's own statements for a driver that binds parameters on the server: $1::bigint, …"""

import re
from typing import NamedTuple

from scan.db import load_statements
from scan.settings import ROOT


class Numbered(NamedTuple):
    text: str
    names: list[str]  # in the order of their numbers


def load() -> dict[str, Numbered]:
    """Every statement of sql/ by name."""
    return {name: _numbered(name, s.text) for name, s in load_statements().items()}


def _numbered(name: str, text: str) -> Numbered:
    types = _types((ROOT / "sql" / f"{name}.sql").read_text(encoding="utf-8"))
    names = list(types)

    def place(match: re.Match[str]) -> str:
        return f"${names.index(match[1]) + 1}::{types[match[1]]}"

    return Numbered(re.sub(r"%\((\w+)\)s", place, text).replace("%%", "%"), names)


def _types(text: str) -> dict[str, str]:
    """Parameters and their types from a statement's header."""
    declared = re.search(r"^-- params: (.*(?:\n--   .*)*)", text, re.M)
    if declared is None or declared[1].strip() == "none":
        return {}
    parts = declared[1].replace("\n--", " ").split(",")
    return {part.split()[0]: part.split()[1] for part in parts}
