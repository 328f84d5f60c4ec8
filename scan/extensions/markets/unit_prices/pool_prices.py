"""The prices of tokens that have a pool with a token of a known price, read in the background."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Set
from decimal import Decimal
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import ScanError
from scan.queries.prices import PoolPrice, UnitPrices
from scan.queries.reader import Reader

READ_AGAIN_S = 60.0
POOL_HOURS = 24
MAX_POOL_PRICES = 1000
MAX_BASES = 20  # tokens with a price whose pools are looked for
MAX_HOLDERS = 100_000  # of these tokens, among which pools are: 5 microseconds each

UNREAD = "The prices of pools have not been read yet."
FAILED = "The prices of pools could not be read."

log = logging.getLogger(__name__)


class _Known(NamedTuple):
    prices: Mapping[str, PoolPrice]
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

    def read(self, reader: Reader, given: UnitPrices) -> tuple[Mapping[str, PoolPrice], str | None]:
        """Return the newest prices, and the reason why there are none, or no newer ones."""
        if reader.first_block:  # what pools hold is not known by events alone
            return {}, None
        self._read_when_due(reader.sources.database, given)
        known = self._known
        if known is None or known.currency != given.currency:
            reader.do_not_cache()
            return {}, self._problem or UNREAD
        own = given.tokens.keys() & known.prices.keys()  # prices given since
        prices = {t: by for t, by in known.prices.items() if t not in own} if own else known.prices
        return prices, self._problem

    def _read_when_due(self, database: Database, given: UnitPrices) -> None:
        bases = given.currency, given.tokens.keys()
        with self._lock:
            if self._is_reading or (self._bases == bases and self._now() < self._read_again_at):
                return
            self._is_reading, self._bases = True, bases
        reading = threading.Thread(
            target=self._read, args=(database, given), name="pool prices", daemon=True
        )
        reading.start()

    def _read(self, database: Database, given: UnitPrices) -> None:
        try:
            self._known = _Known(_by_pools(database, given), given.currency)
            self._problem = None
        except Exception as error:
            log.warning("prices of pools: %s", error, exc_info=not isinstance(error, ScanError))
            self._problem = FAILED
        finally:
            database.close()  # this thread's connection
            self._read_again_at = self._now() + READ_AGAIN_S
            self._is_reading = False


def _by_pools(database: Database, given: UnitPrices) -> Mapping[str, PoolPrice]:
    [[_, data]] = database.prepared_rows(
        "queries/pool_prices_list",
        tokens=[bytes.fromhex(token[2:]) for token in given.tokens],
        prices=[*given.tokens.values()],
        min_depth=given.min_depth,
        hours=POOL_HOURS,
        max_bases=MAX_BASES,
        max_holders=MAX_HOLDERS // min(max(len(given.tokens), 1), MAX_BASES),
        limit=MAX_POOL_PRICES,
    )
    return {
        record["token"]: PoolPrice(
            Decimal(record["price"]), record["pool"], Decimal(record["depth"])
        )
        for record in json.loads(data)
    }
