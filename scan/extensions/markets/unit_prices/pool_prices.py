"""The prices of tokens that have a pool with a token of a known price, read in the background."""

import json
import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.outages import log_pause
from scan.queries.holdings import PoolPrice, UnitPrices, UnusedPrice
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


class BackgroundReading:
    """Runs a function in a thread, one at a time, for which no request waits: at once for what was
    not read last, else READ_AGAIN_S after its last end, also where that was a failure."""

    def __init__(self, name: str, now: Callable[[], float]) -> None:
        self._name = name
        self._now = now
        self._lock = threading.Lock()
        self._is_running = False
        self._read_again_at = 0.0
        self._subject: object = None  # of the newest reading

    def begin_when_due(self, read: Callable[[], None], subject: object = None) -> None:
        with self._lock:
            is_due = self._subject != subject or self._now() >= self._read_again_at
            if self._is_running or not is_due:
                return
            self._is_running, self._subject = True, subject
        try:
            threading.Thread(target=self._run, args=[read], name=self._name, daemon=True).start()
        except RuntimeError:  # it is tried again by the next request
            self._read_again_at = 0.0
            self._is_running = False

    def _run(self, read: Callable[[], None]) -> None:
        try:
            read()
        finally:
            self._read_again_at = self._now() + READ_AGAIN_S
            self._is_running = False


class _Known(NamedTuple):
    prices: dict[str, PoolPrice]
    unused: dict[str, UnusedPrice]
    currency: str


class PoolPrices:
    """The newest prices by pools, read in the background; after a failure the older ones are
    kept."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._reading = BackgroundReading("pool prices", now)
        self._known: _Known | None = None
        self._problem: str | None = UNREAD

    def add_to(self, operator_prices: UnitPrices, reader: Reader) -> UnitPrices:
        """Return the prices given, and the newest ones by pools."""
        if reader.first_block:  # what pools hold is not known by events alone
            return operator_prices
        bases = operator_prices.currency, operator_prices.tokens.keys()
        read = partial(self._read, reader.sources.database, operator_prices)
        self._reading.begin_when_due(read, bases)
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

    def _read(self, database: Database, operator_prices: UnitPrices) -> None:
        try:
            self._known = _pool_prices(database, operator_prices)
            self._problem = None
        except Exception as error:
            log_pause(log, "prices of pools", error)
            self._problem = FAILED
        finally:
            database.close()  # this thread's connection


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
