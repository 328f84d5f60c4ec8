"""What sums are worth at the operator's present unit prices, where there are any."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson

from scan.ethereum.units import COIN_DECIMALS
from scan.http.requests import reader
from scan.queries import prices
from scan.queries.pages import Page
from scan.queries.prices import UnitPrices, exact_worth

AMOUNTS = ("value", "valueIn", "valueOut", "fees")


def with_worth(page: Page) -> Page:
    """Return the page, of whose sums those of the coin and of tokens with a price have the currency
    and the worth of each amount, as exact decimal numbers."""
    given = prices.unit_prices(reader())
    if given is None:
        return page
    records = orjson.loads(page.data)
    for record in records:
        for name in AMOUNTS:
            worth = None if record.get(name) is None else _worth(given, record, record[name])
            if worth is not None:
                record["currency"] = given.currency
                record[f"{name}Worth"] = f"{worth:f}"
    return replace(page, data=orjson.dumps(records).decode())


def _worth(given: UnitPrices, record: dict[str, Any], value: str) -> Decimal | None:
    """Return the worth of an amount of the coin or of a record's token; items have none."""
    if "tokenAddress" not in record:
        return None if given.coin is None else exact_worth(value, COIN_DECIMALS, given.coin)
    if record["tokenType"] != "BEP20":
        return None
    return given.token_worth(record["tokenAddress"], value, record["tokenDecimals"])
