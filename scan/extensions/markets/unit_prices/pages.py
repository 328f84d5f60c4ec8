"""Unit prices on pages of the core."""

from scan import hooks
from scan.extensions.markets.unit_prices.price_document import UnitPrices
from scan.extensions.markets.unit_prices.price_source import PriceSource
from scan.http.requests import reader


def unit_prices() -> UnitPrices | None:
    """Return the newest prices, None without any."""
    return reader().sources.get(PriceSource).read(reader()).prices


HOOKS = hooks.Pages(unit_prices=unit_prices)
