"""Unit prices of the coin and of tokens, where an extension gives them."""

from collections.abc import Mapping, Set
from decimal import Context, Decimal
from types import MappingProxyType
from typing import NamedTuple, Protocol

from scan.queries.reader import Reader

COIN = "coin"  # as an asset, beside tokens by their address in hex
MIN_DEPTH = Decimal(1000)
# Enough for a balance of 100 digits at a price of 80, so that no worth is rounded.
EXACT = Context(prec=400)

AssetDay = tuple[str, str]  # an asset and a day (UTC), such as 2026-01-31


class PoolPrice(NamedTuple):
    """The price of one token in the currency, by the trades of a pool; `depth` is the worth, in the
    currency, of what the pool holds of the token on its other side, and `at` (ISO 8601) the hour of
    the newest trade in the price."""

    price: Decimal
    pool: str
    depth: Decimal
    at: str


class UnusedPrice(NamedTuple):
    """Why a token has no price although a pool has one: a deeper pool has another one
    (`disagreement`), or the newest trade is too old (`age`)."""

    reason: str
    pool: str
    at: str


class UnitPrices(NamedTuple):
    """The worth in `currency` of one coin, and of one token by its address in hex, at `time` (ISO
    8601) by `source`; `pools` has the prices of other tokens, by address, too, of pools whose depth
    is at least `min_depth`, and `unused` those that are not to be trusted. `history` is a pool of
    the coin, a slash, and that token of it which stands for the currency: by its trades there are
    prices of days; None without. `pool_problem` is why there are no prices by pools, or no newer
    ones."""

    currency: str
    source: str
    time: str
    coin: Decimal | None
    tokens: Mapping[str, Decimal]
    min_depth: Decimal = MIN_DEPTH
    pools: Mapping[str, PoolPrice] = MappingProxyType({})
    history: str | None = None
    unused: Mapping[str, UnusedPrice] = MappingProxyType({})
    pool_problem: str | None = None

    def has_price(self, token: str) -> bool:
        return token in self.tokens or token in self.pools

    def price_of(self, token: str) -> Decimal | None:
        """Return the price of one token; None without one."""
        if token in self.tokens:
            return self.tokens[token]
        return self.pools[token].price if token in self.pools else None

    def token_worth(self, token: str, value: int | str, decimals: int) -> Decimal | None:
        """Return the worth of an amount of a token in its smallest unit, exactly; None without a
        price, and where it is more than the depth of the price's pool, which nobody could get."""
        price = self.price_of(token)
        if price is None:
            return None
        worth = exact_worth(value, decimals, price)
        is_by_pool = token not in self.tokens
        return None if is_by_pool and worth > self.pools[token].depth else worth


class DayPrices(Protocol):
    """Prices of days in `currency`."""

    currency: str

    def read(self, asset_days: Set[AssetDay]) -> Mapping[AssetDay, Decimal]:
        """Return the price of each asset on its day, where there is one."""


class Prices:
    """The prices that a process knows; without an extension, none."""

    def newest(self, reader: Reader) -> UnitPrices | None:
        return None

    def of_days(self, reader: Reader) -> DayPrices | None:
        """Return prices of days. Raises Unavailable until they are read."""
        return None


class CoinPrice(NamedTuple):
    amount: Decimal
    time: str  # as of when, ISO 8601


def exact_worth(value: int | str, decimals: int, price: Decimal) -> Decimal:
    return EXACT.multiply(EXACT.scaleb(Decimal(value), -decimals), price)


def unit_prices(reader: Reader) -> UnitPrices | None:
    """Return the newest prices, the same ones for a whole request; None where there are none."""
    return reader.once(_read)


def _read(reader: Reader) -> UnitPrices | None:
    return reader.sources.get(Prices).newest(reader)


def day_prices(reader: Reader) -> DayPrices | None:
    """Return prices of days; None where there are none. Raises Unavailable until they are read."""
    return reader.sources.get(Prices).of_days(reader)


def coin_in_usd(reader: Reader) -> CoinPrice | None:
    """Return the price of a coin in USD, in which other forms have it; None without one."""
    prices = unit_prices(reader)
    if prices is None or prices.coin is None or prices.currency != "USD":
        return None
    return CoinPrice(prices.coin, prices.time)
