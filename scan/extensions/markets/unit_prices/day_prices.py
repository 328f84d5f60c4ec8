"""Prices of days, by the trades that pools had on them."""

import json
from collections.abc import Mapping, Set
from datetime import date
from decimal import Context, Decimal

from scan.errors import NotFound, Unavailable
from scan.extensions.markets import queries as pools
from scan.extensions.markets.unit_prices import pool_prices, price_source
from scan.extensions.markets.unit_prices.price_source import PriceSource
from scan.queries.prices import COIN, AssetDay, UnitPrices
from scan.queries.reader import Reader

ROUNDED = Context(prec=20)

# The price of a pool's token0 in its token1, and both tokens, by the pool and the day.
Medians = Mapping[tuple[str, str], tuple[Decimal, str, str]]


class PoolDayPrices:
    """Prices by the pool of the coin that the source of prices names, and by those pools that make
    present prices of tokens, where their other token is one of that pool's two."""

    def __init__(
        self, reader: Reader, prices: UnitPrices, coin_pool: str, wrapped_coin: str, unit: str
    ) -> None:
        """`unit` is the token of the `coin_pool` that stands for the currency."""
        self.currency = prices.currency
        self._reader = reader
        self._pools = prices.pools
        self._coin_pool = coin_pool
        self._wrapped_coin = wrapped_coin
        self._unit = unit

    def read(self, wanted: Set[AssetDay]) -> Mapping[AssetDay, Decimal]:
        """Return the price of each asset on its day, rounded to 20 digits, where there is one."""
        # Python's calendar ends with the year 9999.
        dated = {(asset, day) for asset, day in wanted if len(day) == len("2026-01-31")}
        pairs = {(self._coin_pool, day) for _, day in dated}
        pairs |= {(self._pools[asset].pool, day) for asset, day in dated if asset in self._pools}
        medians = self._medians(sorted(pairs))
        prices = {(asset, day): self._price(asset, day, medians) for asset, day in wanted}
        return {key: price for key, price in prices.items() if price is not None}

    def _price(self, asset: str, day: str, medians: Medians) -> Decimal | None:
        if asset == self._unit:
            return Decimal(1)
        coin = _in_other(medians.get((self._coin_pool, day)), self._wrapped_coin)
        if asset in (COIN, self._wrapped_coin):
            return None if coin is None else coin[0]
        pool = self._pools.get(asset)
        by_pool = None if pool is None else _in_other(medians.get((pool.pool, day)), asset)
        if by_pool is None:
            return None
        price, other = by_pool
        if other == self._unit:
            return price
        is_in_coin = other == self._wrapped_coin and coin is not None
        return ROUNDED.multiply(price, coin[0]) if is_in_coin and coin else None

    def _medians(self, pairs: list[tuple[str, str]]) -> Medians:
        (data,) = self._reader.row(
            "queries/pool_day_prices_list",
            pools=[bytes.fromhex(pool[2:]) for pool, _ in pairs],
            days=[date.fromisoformat(day) for _, day in pairs],
        )
        return {
            (record["pool"], record["day"]): (
                Decimal(record["price"]),
                record["token0"],
                record["token1"],
            )
            for record in json.loads(data)
        }


def _in_other(median: tuple[Decimal, str, str] | None, token: str) -> tuple[Decimal, str] | None:
    """Return the price of a token of a pool in the other one, and that one."""
    if median is None:
        return None
    price, token0, token1 = median
    if token == token0:
        return ROUNDED.plus(price), token1
    return ROUNDED.divide(Decimal(1), price), token0


def day_prices(reader: Reader) -> PoolDayPrices | None:
    """Return prices of days; None where the source names no pool of the coin, or one that is not
    indexed. Raises Unavailable until prices have been read, since a file would lack them."""
    prices, problem = reader.sources.get(PriceSource).read(reader)
    if problem in (price_source.UNREAD, pool_prices.UNREAD):
        raise Unavailable(problem)
    if prices is None or prices.history is None:
        return None
    pool, unit = prices.history.split("/")
    try:
        record = json.loads(pools.get(reader, bytes.fromhex(pool[2:])))
    except NotFound:
        return None
    if unit not in (record["token0"], record["token1"]):
        return None
    wrapped_coin = record["token1" if unit == record["token0"] else "token0"]
    return PoolDayPrices(reader, prices, pool, wrapped_coin, unit)
