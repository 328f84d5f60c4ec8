"""Fields of a record under other names, as tables of openapi.toml and of other forms write them.

`name = field` is a field's new name, which by default is its own in snake case. `name()` is a value
that something else computes. `as <format>` says how it is shown, and `in <field>` which field has
the decimals of a number. null, true and false stand for themselves.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scan.cached_values import cached_property

CONSTANTS = {"null": None, "true": True, "false": False}
_WRITTEN = re.compile(r"(?:(\w+) = )?(\w+)(\(\))?(?: as (\w+)| in (\w+))?")


class RenamedField(NamedTuple):
    name: str
    source: str
    is_computed: bool
    format: str | None
    decimals: str | None


def renamed_field(written: str) -> RenamedField:
    """Return what is written; raises LookupError for anything else."""
    parsed = _WRITTEN.fullmatch(written)
    if parsed is None:
        raise LookupError(f"{written!r} is no renamed field: name = field as format")
    name, source, call, format_, decimals = parsed.groups()
    snake_case = re.sub(r"(?=[A-Z])", "_", source).lower()
    return RenamedField(name or snake_case, source, bool(call), format_, decimals)


class Renaming:
    """Makes objects of records, by the table of a TOML file: the object's name and its fields."""

    def __init__(self, path: Path, formats: Mapping[str, Callable[[Any], Any]]) -> None:
        self._path, self._formats = path, formats

    @cached_property
    def _objects(self) -> Mapping[str, list[RenamedField]]:
        table = tomllib.loads(self._path.read_text(encoding="utf-8"))
        return {name: [*map(renamed_field, fields)] for name, fields in table.items()}

    def __call__(
        self, name: str, record: Mapping[str, Any], **formats: Callable[[Any], Any]
    ) -> dict[str, Any]:
        """Return the object; `formats` are more of them."""
        return {field.name: self._value(field, record, formats) for field in self._objects[name]}

    def _value(
        self,
        field: RenamedField,
        record: Mapping[str, Any],
        formats: Mapping[str, Callable[[Any], Any]],
    ) -> Any:
        if field.source in CONSTANTS:
            return CONSTANTS[field.source]
        value = record[field.source]
        if field.format is None:
            return value
        return (formats.get(field.format) or self._formats[field.format])(value)
