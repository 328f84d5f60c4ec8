"""Blockscout's objects of records, as far as objects.toml says them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scan.api.openapi.renamed_fields import Renaming
from scan.ethereum.checksums import checksummed
from scan.queries.filters import TOKEN_TYPES
from scan.queries.network import token_standard

Object = dict[str, Any]

# The names of Ethereum's standards, by the types of records.
STANDARDS = {kind: token_standard(kind) for kind in TOKEN_TYPES}


def timestamp(iso: str) -> str:
    """Return a time as Blockscout writes it: ISO 8601 with microseconds."""
    return f"{iso.removesuffix('Z')}.000000Z"


FORMATS: Mapping[str, Callable[[Any], Any]] = {
    "checksum": lambda value: value and checksummed(value),
    "number": int,
    "standard": lambda value: value and STANDARDS[value],
    "text": str,
    "time": timestamp,
}


def renaming(module: str, **formats: Callable[[Any], Any]) -> Renaming:
    """Return what makes objects by the table beside a module's file; `formats` are more of them."""
    return Renaming(Path(module).with_suffix(".toml"), {**FORMATS, **formats})


# An address's object is made by `address`, a format that is given with the record.
renamed = renaming(__file__)
