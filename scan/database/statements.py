"""The files of sql/: one statement each, with a header that says what it takes."""

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from scan.settings import ROOT

_PARAMS = re.compile(r"^-- params: (.*(?:\n--   .*)*)", re.M)


class StatementError(Exception):
    """A file in sql/ whose header and text do not agree."""


class Statement(NamedTuple):
    """One file of sql/: `text` as psycopg2 takes it, `types` as its header declares them."""

    name: str
    text: str
    types: Mapping[str, str]

    @property
    def params(self) -> frozenset[str]:
        return frozenset(self.types)


@functools.cache
def load_statements(folder: Path = ROOT / "sql") -> Mapping[str, Statement]:
    """Every statement by file name; raises StatementError where declared and used params differ."""
    return {
        (name := path.relative_to(folder).with_suffix("").as_posix()): _load(name, path)
        for path in sorted(folder.rglob("*.sql"))
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
    return Statement(name, body, types)


def _types(declared: str) -> dict[str, str]:
    """`a bigint, b bytea null` -> {a: bigint, b: bytea}; `none` -> {}."""
    if declared.strip() == "none":
        return {}
    words = [part.split() for part in declared.replace("\n--", " ").split(",")]
    return {name: " ".join(rest).removesuffix(" null") for name, *rest in words}
