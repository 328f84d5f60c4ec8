"""What all tabs of an address show above them."""

import json
from typing import Any

from scan.hex import to_hex
from scan.http.requests import reader
from scan.queries import addresses
from scan.queries.pages import Window

MAX_HOLDINGS = 5


def address_head(key: bytes) -> dict[str, Any]:
    """The values of address_head.html."""
    holdings = addresses.tokens_held(reader(), key, Window(MAX_HOLDINGS, 0))
    return {
        "address": to_hex(key),
        "account": addresses.get(reader(), key),
        "holdings": json.loads(holdings.data),
        "holding_count": holdings.total,
    }
