"""The tokens of an address by their worth at the newest unit prices, where an extension gives
prices of the coin and of tokens.
"""

import time
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import orjson

from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.queries import balances, cursors
from scan.queries.list_pages import Page, Window
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

    def token_worth(self, token: str, value: int | str, decimals: int | None) -> Decimal | None:
        """Return the worth of an amount of a token in its smallest unit, exactly; None without a
        price or decimals, and where it is more than the depth of the price's pool, which nobody
        could get."""
        price = self.price_of(token)
        if price is None or decimals is None:
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
    return reader.once(reader.sources.get(Prices).newest)


def day_prices(reader: Reader) -> DayPrices | None:
    """Return prices of days; None where there are none. Raises Unavailable until they are read."""
    return reader.sources.get(Prices).of_days(reader)


def coin_in_usd(reader: Reader) -> CoinPrice | None:
    """Return the price of a coin in USD, in which other forms have it; None without one."""
    prices = unit_prices(reader)
    if prices is None or prices.coin is None or prices.currency != "USD":
        return None
    return CoinPrice(prices.coin, prices.time)


MAX_TOKENS = 10_000  # held by an address whose tokens are sorted: all are read for each page
MAX_IN_HEAD = 1_000  # of an address whose page sums them up on every tab
MAX_LETTERS = 100  # of a symbol that are compared
SYMBOLS_AGAIN_S = 60.0
MAX_ROWS = 1_000  # newest transfers and trades of an address, by which its use of a token is known
NO_PRICES = "sort=worth needs unit prices, and there are none."
TOO_MANY = f"The address holds more than {MAX_TOKENS:,} tokens: their list has no sort."


class HoldingBounds:
    """How many tokens of an address are read."""

    tokens, in_head = MAX_TOKENS, MAX_IN_HEAD


class TooManyTokens(InvalidParameter):
    """The address holds more tokens than are sorted."""


@dataclass
class WorthPage(Page):
    """A page of tokens by worth. `worth` has the `currency`, the `total` of those `counted` as an
    exact decimal number, and how many are `others` without a worth and how many `suspicious`."""

    worth: dict[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def more(self) -> Mapping[str, object]:
        return {"worth": self.worth}


class _Symbols(NamedTuple):
    symbols: Set[str]
    of: tuple[int | None, Set[str]]  # version of the token lists, tokens with an operator's price
    until: float


class KnownSymbols:
    """The letters and digits of the symbols of known tokens, which live as long as the process: of
    12,000 tokens at most, which takes some 30 ms to read."""

    def __init__(self) -> None:
        self._known: _Symbols | None = None

    def get(self, reader: Reader, version: int | None, tokens: Mapping[str, object]) -> Set[str]:
        """Return them for a version of the token lists and the tokens with an operator's price,
        whose symbols may become known a minute later."""
        known, of = self._known, (version, tokens.keys())
        if known is None or known.of != of or time.monotonic() >= known.until:
            (symbols,) = reader.row(
                "queries/known_symbols_list",
                tokens=[bytes.fromhex(token[2:]) for token in tokens],
                letters=MAX_LETTERS,
            )
            until = time.monotonic() + SYMBOLS_AGAIN_S
            self._known = known = _Symbols({*filter(None, symbols)}, of, until)
        return known.symbols


def tokens_by_worth(
    reader: Reader,
    address: bytes,
    window: Window,
    prices: UnitPrices | None,
    most: int | None = None,
) -> WorthPage:
    """Return the tokens that an address holds, each with its worth and why it is suspicious.

    Raises InvalidParameter without prices, and TooManyTokens for an address with more than `most`
    (None: MAX_TOKENS)."""
    if prices is None:
        raise InvalidParameter(NO_PRICES, field="sort")
    filters = {"address": address, "sort": "worth"}
    traversal = window.traversal("tokens held", filters, (cursors.ORDINAL,), has_blocks=False)
    offset = window.offset if traversal.cursor is None else traversal.position(1)[0]
    assert isinstance(offset, int)
    read, bounds = balances.held(reader, address), reader.sources.get(HoldingBounds)
    most = bounds.tokens if most is None else most
    # Most addresses hold few, whose reads need no place.
    for bound in sorted({most, min(most, bounds.in_head)}):
        held = _held(reader, address, prices, bound, read)
        if held is not None:
            break
    else:
        raise TooManyTokens(TOO_MANY, field="sort")
    data, count, total, worth = reader.row(
        "queries/addresses_list_tokens_by_worth",
        is_unbounded=bound > bounds.in_head,  # several at once would hold all threads
        address=address,
        **held,
        **read,
        is_whole=reader.first_block == 0 and reader.kept_from_of(address) is None,
        most=bound,
        most_rows=MAX_ROWS,
        limit=window.limit,
        offset=offset,
    )
    if data is None:
        raise TooManyTokens(TOO_MANY, field="sort")
    end = offset + count
    following = traversal.next([end] if count and end < total else None)
    sums = {"currency": prices.currency, **orjson.loads(worth)}
    page = WorthPage(data, count, total, following, worth=sums)
    return balances.completed(reader, page, holder=address)


def _held(
    reader: Reader, address: bytes, prices: UnitPrices, most: int, read: balances.Read
) -> dict[str, Any] | None:
    """Return the prices of the tokens held, each with the depth of its pool unless it is the
    operator's, and the tokens with a symbol like that of a known one, as the statement takes them;
    None for more than `most` tokens."""
    is_all, tokens, symbols, version = reader.row(
        "queries/addresses_list_held_symbols",
        is_unbounded=most > reader.sources.get(HoldingBounds).in_head,
        address=address,
        most=most,
        letters=MAX_LETTERS,
        **read,
    )
    if not is_all:
        return None
    priced_symbols = reader.sources.get(KnownSymbols).get(reader, version, prices.tokens)
    held = [*map(bytes, tokens or ())]
    alike = [t for t, symbol in zip(held, symbols or (), strict=True) if symbol in priced_symbols]
    priced = {token: to_hex(token) for token in held if prices.has_price(to_hex(token))}
    depths = [None if t in prices.tokens else prices.pools[t].depth for t in priced.values()]
    of_prices = [*map(prices.price_of, priced.values())]
    return {"tokens": [*priced], "prices": of_prices, "depths": depths, "alike": alike}
