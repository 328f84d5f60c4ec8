"""The source of unit prices: a file or a URL, read in the background, or a pool of the chain."""

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from scan.environment import Network
from scan.errors import NotFound, Unavailable
from scan.extensions.markets import queries as pools
from scan.extensions.markets.unit_prices import pool_prices
from scan.extensions.markets.unit_prices.day_prices import PoolDayPrices, day_prices
from scan.extensions.markets.unit_prices.pool_prices import POOL_HOURS, READ_AGAIN_S, PoolPrices
from scan.extensions.markets.unit_prices.price_document import MAX_BYTES, BadPrices, parse
from scan.hex import data as from_hex
from scan.outbound.document_fetcher import DocumentFetcher, NotFetched
from scan.queries.holdings import Prices, UnitPrices
from scan.queries.reader import Reader

OFF = "No unit prices are configured."
UNREAD = "The prices have not been read yet."
NO_TRADES = "The pool is not indexed, has no trades with a price, or not this token."

log = logging.getLogger(__name__)


class Reading(NamedTuple):
    """The newest prices. `problem` is the reason why there are none, or no newer ones."""

    prices: UnitPrices | None
    problem: str | None


class PriceSource(Prices):
    """The operator's prices, and those of pools that follow from them. No request waits for a file
    or a server, or for prices by pools: before the end of the first reading it gets none."""

    def __init__(
        self,
        source: str,
        fetcher: DocumentFetcher | None,
        allowed: Sequence[Network] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`source` is SCAN_PRICES. `fetcher` is needed for URLs; `allowed` are networks besides
        public ones."""
        self._source = source
        self._fetcher = fetcher
        self._allowed = allowed
        self._now = now
        self._lock = threading.Lock()
        self._read_again_at = 0.0
        self._reading = Reading(None, UNREAD if source else OFF)
        self._by_pools = PoolPrices(now)

    def read(self, reader: Reader) -> Reading:
        """Return the newest prices; those of pools may be of an older version of the index."""
        prices, problem = self._given(reader)
        if prices is None:
            return Reading(None, problem)
        prices = self._by_pools.add_to(prices, reader)
        return Reading(prices, problem or prices.pool_problem)

    def newest(self, reader: Reader) -> UnitPrices | None:
        return self.read(reader).prices

    def of_days(self, reader: Reader) -> PoolDayPrices | None:
        """Return prices of days. Raises Unavailable until prices have been read, since a file would
        lack them."""
        prices, problem = self.read(reader)
        if problem in (UNREAD, pool_prices.UNREAD):
            raise Unavailable(problem)
        return None if prices is None else day_prices(reader, prices)

    def _given(self, reader: Reader) -> Reading:
        """Return the operator's prices. A pool's price is of the reader's version of the index."""
        if self._source.startswith("0x"):
            return _of_pool(reader, *self._source.split("/"))
        if self._source:
            self._read_when_due()
        if self._reading.problem == UNREAD:
            reader.do_not_cache()
        return self._reading

    def _read_when_due(self) -> None:
        with self._lock:
            if self._now() < self._read_again_at:
                return
            self._read_again_at = float("inf")  # until this reading has ended
        threading.Thread(target=self._read, name="unit prices", daemon=True).start()

    def _read(self) -> None:
        try:
            self._reading = Reading(parse(*self._document()), None)
        except (BadPrices, NotFetched, OSError) as error:
            reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
            log.warning("SCAN_PRICES: %s", reason)
            self._reading = Reading(self._reading.prices, reason)
        finally:
            self._read_again_at = self._now() + READ_AGAIN_S

    def _document(self) -> tuple[bytes, str]:
        """Return the document, and the name of its source for pages."""
        if self._fetcher is not None:
            host = urlsplit(self._source).netloc
            return self._fetcher.get(self._source, MAX_BYTES, self._allowed), host
        with Path(self._source).open("rb") as file:
            return file.read(MAX_BYTES + 1), "this site's operator"


def _of_pool(reader: Reader, pool: str, currency: str) -> Reading:
    """Return the price of the pool's other token, which is the wrapped coin: the median of the
    closing prices of its newest hours with trades. One trade can change only one of them."""
    try:
        record = json.loads(pools.get(reader, from_hex(pool)))
        candles = json.loads(pools.candles(reader, from_hex(pool), "1h", limit=POOL_HOURS).data)
    except NotFound:
        return Reading(None, NO_TRADES)
    closed = sorted(Decimal(c["close"]) for c in candles if c["close"] is not None)
    if not closed or currency not in (record["token0"], record["token1"]):
        return Reading(None, NO_TRADES)
    price, other, symbol = closed[len(closed) // 2], record["token0"], record["token1Symbol"]
    if currency == other:
        price, other, symbol = 1 / price, record["token1"], record["token0Symbol"]
    prices = UnitPrices(
        symbol or currency,
        pool,
        record["lastTradeAt"],
        price,
        {other: price, currency: Decimal(1)},
        history=f"{pool}/{currency}",
    )
    return Reading(prices, None)
