"""Etherscan's objects of records, as far as objects.toml says them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from scan.api.openapi.renamed_fields import Renaming
from scan.ethereum.units import GWEI_DECIMALS, in_units
from scan.queries.network import token_standard


def gwei(wei: str) -> str:
    """Return a price in gwei, with all its digits."""
    return in_units(int(wei), GWEI_DECIMALS)


def seconds(date: str) -> str:
    """Return the beginning of a day (UTC) in Unix seconds."""
    return str(int(datetime.fromisoformat(f"{date}T00:00:00Z").timestamp()))


FORMATS: Mapping[str, Callable[[Any], Any]] = {
    "coins": lambda wei: in_units(int(wei)),
    "gwei": gwei,
    "hex": lambda value: hex(int(value)),
    "seconds": seconds,
    "standard": token_standard,
    "text": str,
}
renamed = Renaming(Path(__file__).with_suffix(".toml"), FORMATS)
