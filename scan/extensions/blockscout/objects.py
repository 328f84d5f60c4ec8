"""Blockscout's objects of records, as far as objects.toml says them."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scan.api.openapi.renamed_fields import RenamedField, renamed_field
from scan.ethereum.checksums import checksummed
from scan.queries.filters import TOKEN_TYPES
from scan.queries.network import token_standard

Object = dict[str, Any]

# The names of Ethereum's standards, by the types of records.
STANDARDS = {kind: token_standard(kind) for kind in TOKEN_TYPES}


def timestamp(iso: str) -> str:
    """Return a time as Blockscout writes it: ISO 8601 with microseconds."""
    return f"{iso.removesuffix('Z')}.000000Z"


CONSTANTS = {"null": None, "true": True, "false": False}
FORMATS: Mapping[str | None, Callable[[Any], Any]] = {
    None: lambda value: value,
    "checksum": lambda value: value and checksummed(value),
    "number": int,
    "standard": lambda value: value and STANDARDS[value],
    "text": str,
    "time": timestamp,
}


@cache
def _tables() -> Mapping[str, list[RenamedField]]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {name: [*map(renamed_field, fields)] for name, fields in tomllib.loads(text).items()}


def renamed(
    name: str,
    record: Mapping[str, Any],
    address: Callable[[str | None], Object | None] | None = None,
) -> Object:
    """Return a record's fields as the object has them; `address` makes an address's object."""
    formats = {**FORMATS, "address": address} if address else FORMATS
    return {
        field.name: CONSTANTS[field.source]
        if field.source in CONSTANTS
        else formats[field.format](record[field.source])
        for field in _tables()[name]
    }
