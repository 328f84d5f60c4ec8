"""The operator's unit prices, for pages and other forms."""

from scan import hooks
from scan.extensions.markets.unit_prices.day_prices import day_prices
from scan.extensions.markets.unit_prices.price_source import PriceSource
from scan.queries.prices import UnitPrices
from scan.queries.reader import Reader


def unit_prices(reader: Reader) -> UnitPrices | None:
    """Return the newest prices, None without any."""
    return reader.sources.get(PriceSource).read(reader).prices


HOOKS = hooks.Prices(read=unit_prices, of_days=day_prices)
