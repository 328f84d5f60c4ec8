"""Unit prices of the coin and of tokens, where an extension gives them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from scan import registry
from scan.hooks import Prices
from scan.queries.reader import Reader


class UnitPrices(NamedTuple):
    """The worth in `currency` of one coin, and of one token by its address in hex, at `time` (ISO
    8601) by `source`."""

    currency: str
    source: str
    time: str
    coin: Decimal | None
    tokens: Mapping[str, Decimal]


class CoinPrice(NamedTuple):
    amount: Decimal
    time: str  # as of when, ISO 8601


def unit_prices(reader: Reader) -> UnitPrices | None:
    """Return the newest prices; None where there are none."""
    return next(filter(None, (part.read(reader) for part in registry.parts(Prices))), None)


def coin_in_usd(reader: Reader) -> CoinPrice | None:
    """Return the price of a coin in USD, in which other forms have it; None without one."""
    prices = unit_prices(reader)
    if prices is None or prices.coin is None or prices.currency != "USD":
        return None
    return CoinPrice(prices.coin, prices.time)
