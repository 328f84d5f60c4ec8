"""What sums are worth at the operator's present unit prices, where there are any."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson

from scan.ethereum.units import COIN_DECIMALS
from scan.http.requests import reader
from scan.queries import prices
from scan.queries.pages import Page
from scan.queries.prices import UnitPrices

AMOUNTS = ("value", "valueIn", "valueOut", "fees")


def with_worth(page: Page) -> Page:
    """Return the page, of whose sums those of the coin and of tokens with a price have the currency
    and the worth of each amount, as decimal numbers of 28 digits."""
    given = prices.unit_prices(reader())
    if given is None:
        return page
    records = orjson.loads(page.data)
    for record in records:
        price = _price(given, record)
        if price is not None:
            decimals = record.get("tokenDecimals", COIN_DECIMALS)
            record["currency"] = given.currency
            for name in AMOUNTS:
                if record.get(name) is not None:
                    worth = Decimal(record[name]).scaleb(-decimals) * price
                    record[f"{name}Worth"] = f"{worth:f}"
    return replace(page, data=orjson.dumps(records).decode())


def _price(given: UnitPrices, record: dict[str, Any]) -> Decimal | None:
    """Return the price of one coin or token; items have none."""
    if "tokenAddress" not in record:
        return given.coin
    is_fungible = record["tokenType"] == "BEP20"
    return given.tokens.get(record["tokenAddress"]) if is_fungible else None
