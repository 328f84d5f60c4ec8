"""The prices of tokens that have a pool with a token of a known price, read in the background; and
the prices of days, by the trades that pools had on them."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Set
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import NotFound, ScanError
from scan.extensions.markets import queries as pools
from scan.queries.holdings import COIN, AssetDay, PoolPrice, UnitPrices, UnusedPrice
from scan.queries.reader import Reader

READ_AGAIN_S = 60.0
POOL_HOURS = 24
MAX_AGE_DAYS = 7  # of the newest trade in a price, before the newest block
MAX_FACTOR = 2  # by which the price of a deeper pool may differ
POOLS_EACH = 3  # compared, of exchanges with a name and of others
MAX_POOL_PRICES = 1000
MAX_BASES = 20  # tokens with a price whose pools are looked for
MAX_HOLDERS = 100_000  # of these tokens, among which pools are: 5 microseconds each

UNREAD = "The prices of pools have not been read yet."
FAILED = "The prices of pools could not be read."

log = logging.getLogger(__name__)


class _Known(NamedTuple):
    prices: dict[str, PoolPrice]
    unused: dict[str, UnusedPrice]
    currency: str


class PoolPrices:
    """The newest prices by pools. One thread at a time reads them, no request waits for it; after
    a failure the older ones are kept, and the next reading comes no sooner than after others."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._is_reading = False
        self._bases: tuple[str, Set[str]] | None = None  # of the newest reading
        self._read_again_at = 0.0
        self._known: _Known | None = None
        self._problem: str | None = UNREAD

    def add_to(self, operator_prices: UnitPrices, reader: Reader) -> UnitPrices:
        """Return the prices given, and the newest ones by pools."""
        if reader.first_block:  # what pools hold is not known by events alone
            return operator_prices
        self._read_when_due(reader.sources.database, operator_prices)
        pool_prices = self._known
        if pool_prices is None or pool_prices.currency != operator_prices.currency:
            reader.do_not_cache()
            return operator_prices._replace(pool_problem=self._problem or UNREAD)
        prices, unused = pool_prices.prices, pool_prices.unused
        if operator_prices.tokens.keys() & (prices.keys() | unused.keys()):  # prices given since
            tokens = operator_prices.tokens
            prices = {token: by for token, by in prices.items() if token not in tokens}
            unused = {token: by for token, by in unused.items() if token not in tokens}
        return operator_prices._replace(pools=prices, unused=unused, pool_problem=self._problem)

    def _read_when_due(self, database: Database, operator_prices: UnitPrices) -> None:
        bases = operator_prices.currency, operator_prices.tokens.keys()
        with self._lock:
            if self._is_reading or (self._bases == bases and self._now() < self._read_again_at):
                return
            self._is_reading, self._bases = True, bases
        reading = threading.Thread(
            target=self._read, args=(database, operator_prices), name="pool prices", daemon=True
        )
        try:
            reading.start()
        except RuntimeError:  # it is tried again by the next request
            self._is_reading = False

    def _read(self, database: Database, operator_prices: UnitPrices) -> None:
        try:
            self._known = _pool_prices(database, operator_prices)
            self._problem = None
        except Exception as error:
            log.warning("prices of pools: %s", error, exc_info=not isinstance(error, ScanError))
            self._problem = FAILED
        finally:
            database.close()  # this thread's connection
            self._read_again_at = self._now() + READ_AGAIN_S
            self._is_reading = False


def _pool_prices(database: Database, operator_prices: UnitPrices) -> _Known:
    [[_, data]] = database.rows(
        "queries/pool_prices_list",
        tokens=[bytes.fromhex(token[2:]) for token in operator_prices.tokens],
        prices=[*operator_prices.tokens.values()],
        min_depth=operator_prices.min_depth,
        hours=POOL_HOURS,
        max_age=timedelta(days=MAX_AGE_DAYS),
        factor=MAX_FACTOR,
        pools_each=POOLS_EACH,
        max_bases=MAX_BASES,
        max_holders=MAX_HOLDERS // min(max(len(operator_prices.tokens), 1), MAX_BASES),
        limit=MAX_POOL_PRICES,
    )
    pool_prices = _Known({}, {}, operator_prices.currency)
    for record in json.loads(data):
        token, pool, at = record["token"], record["pool"], record["at"]
        if record["unused"]:
            pool_prices.unused[token] = UnusedPrice(record["unused"], pool, at)
        else:
            price, depth = Decimal(record["price"]), Decimal(record["depth"])
            pool_prices.prices[token] = PoolPrice(price, pool, depth, at)
    return pool_prices


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
