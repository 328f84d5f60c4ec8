"""The tokens of an address by their worth at the newest unit prices."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.queries import older_tokens
from scan.queries.cursors import ORDINAL
from scan.queries.network import coin_symbol
from scan.queries.pages import Page, Window
from scan.queries.prices import UnitPrices
from scan.queries.reader import Reader

MAX_TOKENS = 10_000  # held by an address whose tokens are sorted: all are read for each page
MAX_IN_HEAD = 1_000  # of an address whose page sums them up on every tab
MAX_ROWS = 1_000  # newest transfers and trades of an address, by which its use of a token is known
NO_PRICES = "sort=worth needs unit prices, and there are none."
TOO_MANY = f"The address holds more than {MAX_TOKENS:,} tokens: their list has no sort."


class TooManyTokens(InvalidParameter):
    """The address holds more tokens than are sorted."""


@dataclass(frozen=True)
class WorthPage(Page):
    """A page of tokens by worth. `worth` has the `currency`, the `total` of those `counted` as an
    exact decimal number, and how many are `others` without a worth and how many `suspicious`."""

    worth: dict[str, Any] = field(default_factory=dict, kw_only=True)


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
    traversal = window.traversal("tokens held", filters, (ORDINAL,), has_blocks=False)
    offset = window.offset if traversal.cursor is None else traversal.position(1)[0]
    assert isinstance(offset, int)
    data, count, total, worth = reader.row(
        "queries/addresses_list_tokens_by_worth",
        is_unbounded=most is None,  # several at once would hold all threads
        address=address,
        **_parameters(reader, prices),
        most=MAX_TOKENS if most is None else most,
        limit=window.limit,
        offset=offset,
    )
    if data is None:
        raise TooManyTokens(TOO_MANY, field="sort")
    end = offset + count
    following = traversal.next([end] if count and end < total else None)
    if reader.first_block:
        records = orjson.loads(data)
        older_tokens.correct_balances(reader, records, holder=to_hex(address))
        data = orjson.dumps(records).decode()
    sums = {"currency": prices.currency, **orjson.loads(worth)}
    return WorthPage(data, count, total, following, worth=sums)


def _parameters(reader: Reader, prices: UnitPrices) -> dict[str, Any]:
    """Return the prices, and what of the index is whole, as the statement takes them."""
    by_pools = prices.pools.values()
    return {
        "tokens": [bytes.fromhex(token[2:]) for token in (*prices.tokens, *prices.pools)],
        "prices": [*prices.tokens.values(), *(by.price for by in by_pools)],
        "depths": [*(None for _ in prices.tokens), *(by.depth for by in by_pools)],
        "coin_symbol": coin_symbol(reader),
        "is_late": reader.first_block > 0,
        "is_whole": reader.first_block == 0 and reader.kept_from is None,
        "most_rows": MAX_ROWS,
    }
