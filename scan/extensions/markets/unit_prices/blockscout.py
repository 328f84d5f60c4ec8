"""The coin's price in Blockscout's statistics, which are in USD."""

from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.markets.unit_prices.price_source import coin_in_usd
from scan.queries.reader import Reader


def coin_price(reader: Reader) -> str | None:
    """Return the price of a coin in USD; None where the operator gives none in this currency."""
    price = coin_in_usd(reader)
    return None if price is None else f"{price.amount:f}"


HOOKS = Blockscout(coin_price=coin_price)
