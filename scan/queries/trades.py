"""Trades on exchanges: side and price of one, and the exchanges to choose from."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from scan.queries.reader import Reader

MAX_EXCHANGES = 30  # to choose from


class PricedTrade(NamedTuple):
    """A trade's `side` is buy where the maker got token0, else sell; its `price` is the amount of
    token1 for one token0, as that of candles, None where an amount is 0."""

    side: str
    price: Decimal | None


class Exchanges(NamedTuple):
    """Names of exchanges, those with most trades first; `are_all` says that none was left out."""

    names: list[str]
    are_all: bool


def exchanges(reader: Reader) -> Exchanges:
    names, count = reader.row("queries/dexes_list", most=MAX_EXCHANGES)
    return Exchanges(json.loads(names), count <= MAX_EXCHANGES)


def priced(trade: Mapping[str, Any], pool: Mapping[str, Any]) -> PricedTrade:
    """Return the side and the price of the record of a trade in a pool."""
    is_sell = trade["tokenIn"] == pool["token0"]
    given, got = Decimal(trade["amountIn"]), Decimal(trade["amountOut"])
    amount0, amount1 = (given, got) if is_sell else (got, given)
    price = None
    if amount0 and amount1:  # decimals that are not known count as 0
        price = (amount1 / amount0).scaleb(
            (pool["token0Decimals"] or 0) - (pool["token1Decimals"] or 0)
        )
    return PricedTrade("sell" if is_sell else "buy", price)
