"""Prices in a document that may be malformed or too large. Pure."""

import json
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.markets.unit_prices.settings import POOL_AND_TOKEN
from scan.hex import to_hex
from scan.queries.holdings import MIN_DEPTH, UnitPrices

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
