"""Unit prices on pages, where an extension gives them."""

from typing import Any

from scan import registry


def unit_prices() -> Any | None:
    """Return the prices of the coin and of tokens; None where there are none."""
    read = registry.first("pages", "unit_prices")
    return None if read is None else read()
