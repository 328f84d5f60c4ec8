"""Unit prices on pages, where an extension gives them."""

from typing import Any

from scan import registry
from scan.hooks import Pages


def unit_prices() -> Any | None:
    """Return the prices of the coin and of tokens; None where there are none."""
    return next(filter(None, (pages.unit_prices() for pages in registry.parts(Pages))), None)
