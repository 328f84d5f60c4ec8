"""The source of unit prices: a file or a URL, read in the background, or a pool of the chain; and
the document of prices that it has, which is checked before any of it is believed.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from scan import parameters
from scan.errors import InvalidParameter, NotFound, Unavailable
from scan.extensions.markets import queries as pools
from scan.extensions.markets.unit_prices import pool_prices
from scan.extensions.markets.unit_prices.day_prices import PoolDayPrices, day_prices
from scan.extensions.markets.unit_prices.settings import POOL_AND_TOKEN
from scan.hex import data, to_hex
from scan.outbound.http_client import HttpClient, NotFetched
from scan.queries.holdings import MIN_DEPTH, Prices, UnitPrices
from scan.queries.reader import Reader
from scan.setting_kinds import Network

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
        fetcher: HttpClient | None,
        allowed: Sequence[Network] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`source` is SCAN_PRICES. `fetcher` is needed for URLs; `allowed` are networks besides
        public ones."""
        self._source = source
        self._fetcher = fetcher
        self._allowed = allowed
        self._background = pool_prices.BackgroundReading("unit prices", now)
        self._reading = Reading(None, UNREAD if source else OFF)
        self._by_pools = pool_prices.PoolPrices(now)

    def read(self, reader: Reader) -> Reading:
        """Return the newest prices; those of pools may be of an older version of the index, except
        the operator's, where that is a pool's."""
        if self._source.startswith("0x"):
            prices, problem = _of_pool(reader, *self._source.split("/"))
        else:
            if self._source:
                self._background.begin_when_due(self._read)
            prices, problem = self._reading
            if problem == UNREAD:
                reader.do_not_cache()
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

    def _read(self) -> None:
        try:
            self._reading = Reading(parse(*self._document()), None)
        except (BadPrices, NotFetched, OSError) as error:
            reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
            log.warning("SCAN_PRICES: %s", reason)
            self._reading = Reading(self._reading.prices, reason)

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
        record = json.loads(pools.get(reader, data(pool)))
        candles = json.loads(
            pools.candles(reader, data(pool), "1h", limit=pool_prices.POOL_HOURS).data
        )
    except NotFound:
        return Reading(None, NO_TRADES)
    closed = [Decimal(c["close"]) for c in candles if c["close"] is not None]
    if not closed or currency not in (record["token0"], record["token1"]):
        return Reading(None, NO_TRADES)
    price, other, symbol = median_low(closed), record["token0"], record["token1Symbol"]
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


MAX_BYTES = 256 * 1024
MAX_TOKENS = 2000
MAX_CURRENCY = 12

_PRICE = re.compile(r"[0-9]{1,20}(\.[0-9]{1,30})?", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


class BadPrices(Exception):
    """The document cannot be used. The message is the reason, without anything of the document."""


def parse(document: bytes, source: str) -> UnitPrices:
    """Return the prices in a document. Raises BadPrices."""
    if len(document) > MAX_BYTES:
        raise BadPrices(f"It has more than {MAX_BYTES} bytes.")
    try:
        orjson.loads(document)  # refuses deep nesting, which ends the process in json
        fields = json.loads(document, parse_float=str, parse_int=str)
    except ValueError:
        raise BadPrices("It is not JSON.") from None
    if not isinstance(fields, dict):
        raise BadPrices("It is not a JSON object.")
    listed = fields.get("tokens", {})
    if not isinstance(listed, dict) or len(listed) > MAX_TOKENS:
        raise BadPrices(f"`tokens` must be an object with at most {MAX_TOKENS} addresses.")
    history, coin, min_depth = fields.get("history"), fields.get("coin"), fields.get("minDepth")
    return UnitPrices(
        _currency(fields.get("currency")),
        source,
        _time(fields.get("time")),
        None if coin is None else _price(coin),
        {_address(address): _price(price) for address, price in listed.items()},
        MIN_DEPTH if min_depth is None else _price(min_depth),
        history=None if history is None else _pool_and_token(history),
    )


def _currency(text: Any) -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_CURRENCY:
        raise BadPrices(f"`currency` must have 1 to {MAX_CURRENCY} characters.")
    if not text.isprintable():
        raise BadPrices("`currency` must be printable.")
    return text


def _time(text: Any) -> str:
    if isinstance(text, str) and _TIME.fullmatch(text):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            return text
    raise BadPrices("`time` must be a time such as 2026-01-31T23:59:59Z.")


def _price(text: Any) -> Decimal:
    if not isinstance(text, str) or not _PRICE.fullmatch(text):
        raise BadPrices("A price must be a decimal number, with at most 20 digits and 30 decimals.")
    return Decimal(text)


def _pool_and_token(text: Any) -> str:
    if not isinstance(text, str) or not POOL_AND_TOKEN.fullmatch(text.lower()):
        raise BadPrices("`history` must be the address of a pool, a slash and that of a token.")
    return text.lower()


def _address(text: str) -> str:
    try:
        return to_hex(parameters.address(text))
    except InvalidParameter:
        raise BadPrices("A key of `tokens` is not an address.") from None
