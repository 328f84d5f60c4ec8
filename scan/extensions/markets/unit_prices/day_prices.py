"""The prices of days: what coin and tokens were worth then, by the trades that pools had."""

import json
from collections.abc import Mapping, Set
from datetime import date
from decimal import Context, Decimal
from typing import NamedTuple

from scan.errors import NotFound
from scan.extensions.markets import queries as pools
from scan.queries.holdings import COIN, AssetDay, UnitPrices
from scan.queries.reader import Reader

ROUNDED = Context(prec=20)


class Median(NamedTuple):
    """The price of a pool's token0 in its token1 on a day, and what was traded of both."""

    price: Decimal
    token0: str
    token1: str
    volume0: Decimal
    volume1: Decimal

    def volume_of(self, token: str) -> Decimal:
        return self.volume0 if token == self.token0 else self.volume1

    def of(self, token: str) -> tuple[Decimal, str]:
        """Return the price of one of both tokens in the other one, and that one."""
        if token == self.token0:
            return ROUNDED.plus(self.price), self.token1
        return ROUNDED.divide(Decimal(1), self.price), self.token0


Medians = Mapping[tuple[str, str], Median]  # by the pool and the day


class PoolDayPrices:
    """Prices by the pool of the coin that the source of prices names, and by those pools that make
    present prices of tokens, where their other token is one of that pool's two and trades of a day
    moved at least the least depth of it: what a pool held then is not stored, and one small trade
    would set the worth of a day's rows. That it had none lately does not matter."""

    def __init__(
        self, reader: Reader, prices: UnitPrices, coin_pool: str, wrapped_coin: str, unit: str
    ) -> None:
        """`unit` is the token of the `coin_pool` that stands for the currency."""
        self.currency = prices.currency
        self._reader = reader
        self._pools = {token: by.pool for token, by in prices.pools.items()}
        self._pools |= {t: by.pool for t, by in prices.unused.items() if by.reason == "age"}
        self._min_depth = prices.min_depth
        self._coin_pool = coin_pool
        self._wrapped_coin = wrapped_coin
        self._unit = unit

    def read(self, asset_days: Set[AssetDay]) -> Mapping[AssetDay, Decimal]:
        """Return the price of each asset on its day, rounded to 20 digits, where there is one."""
        # Python's calendar ends with the year 9999.
        dated = {(asset, day) for asset, day in asset_days if len(day) == len("2026-01-31")}
        pairs = {(self._coin_pool, day) for _, day in dated}
        pairs |= {(self._pools[asset], day) for asset, day in dated if asset in self._pools}
        medians = self._medians(sorted(pairs))
        prices = {(asset, day): self._price(asset, day, medians) for asset, day in asset_days}
        return {key: price for key, price in prices.items() if price is not None}

    def _price(self, asset: str, day: str, medians: Medians) -> Decimal | None:
        if asset == self._unit:
            return Decimal(1)
        median = medians.get((self._coin_pool, day))
        coin_price = None if median is None else median.of(self._wrapped_coin)[0]
        if asset in (COIN, self._wrapped_coin):
            return coin_price
        pool = self._pools.get(asset)
        median = None if pool is None else medians.get((pool, day))
        if median is None:
            return None
        price, other = median.of(asset)
        other_price = {self._unit: Decimal(1), self._wrapped_coin: coin_price}.get(other)
        if other_price is None or median.volume_of(other) * other_price < self._min_depth:
            return None
        return ROUNDED.multiply(price, other_price)

    def _medians(self, pairs: list[tuple[str, str]]) -> Medians:
        (data,) = self._reader.row(
            "queries/pool_day_prices_list",
            pools=[bytes.fromhex(pool[2:]) for pool, _ in pairs],
            days=[date.fromisoformat(day) for _, day in pairs],
        )
        return {
            (record["pool"], record["day"]): Median(
                Decimal(record["price"]),
                record["token0"],
                record["token1"],
                Decimal(record["volume0"]),
                Decimal(record["volume1"]),
            )
            for record in json.loads(data)
        }


def day_prices(reader: Reader, prices: UnitPrices) -> PoolDayPrices | None:
    """Return prices of days; None where the newest prices name no pool of the coin, or one that is
    not indexed."""
    if prices.history is None:
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
