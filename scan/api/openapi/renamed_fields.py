"""A field of a record under another name, as tables of openapi.toml and of other forms write it.

`name = field` is a field's new name, which by default is its own in snake case. `name()` is a value
that something else computes. `as <format>` says how it is shown, and `in <field>` which field has
the decimals of a number.
"""

import re
from typing import NamedTuple

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
