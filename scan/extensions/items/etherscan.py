"""The items that an address holds, among its tokens in Blockscout's form."""

import orjson

from scan.extensions.etherscan.hooks import Etherscan
from scan.extensions.items import queries as items
from scan.http.requests import reader
from scan.queries.pages import Window


def items_held(address: bytes, window: Window) -> list[dict[str, object]]:
    """Return the records of items."""
    held: list[dict[str, object]] = orjson.loads(items.held_by(reader(), address, window).data)
    return held


HOOKS = Etherscan(items_held=items_held)
