"""Etherscan's objects of records, as far as objects.toml says them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scan.api.openapi.renamed_fields import Renaming
from scan.ethereum.units import GWEI_DECIMALS, in_units
from scan.queries.network import token_standard


def gwei(wei: str) -> str:
    """Return a price in gwei, with all its digits."""
    return in_units(int(wei), GWEI_DECIMALS)


FORMATS: Mapping[str, Callable[[Any], Any]] = {
    "gwei": gwei,
    "hex": lambda value: hex(int(value)),
    "standard": token_standard,
    "text": str,
}
renamed = Renaming(Path(__file__).with_suffix(".toml"), FORMATS)
