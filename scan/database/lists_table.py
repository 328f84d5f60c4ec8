"""sql/lists.toml, with the lists.toml of each installed extension merged into it."""

import functools
import tomllib
from collections.abc import Mapping
from typing import Any

from scan.registry import enabled, extension_of, folders
from scan.settings import ROOT

TABLE = ROOT / "sql" / "lists.toml"


@functools.cache
def read_table() -> Mapping[str, Any]:
    """Return the table: each extension's is merged into the core's, tables by their keys and lists
    by appending."""
    merged = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    for path in folders("sql/lists.toml"):
        own = tomllib.loads(path.read_text(encoding="utf-8"))
        extension = extension_of(path)
        if extension not in enabled():
            own.pop("fragments", None)  # what is read of its rows would be of some blocks only
        for entity in own.get("entities", {}).values():
            if "json_name" in entity:
                entity["extension"] = extension
        _merge(merged, own)
    return merged


def _merge(into: dict[str, Any], table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        elif isinstance(value, list) and isinstance(into.get(key), list):
            into[key] += value
        else:
            into[key] = value


def fragments(name: str) -> list[str]:
    """Return the SQL that extensions that are on add to a statement, from [fragments.<name>]."""
    of_statement: Mapping[str, str] = read_table().get("fragments", {}).get(name, {})
    return [text.strip() for text in of_statement.values()]
