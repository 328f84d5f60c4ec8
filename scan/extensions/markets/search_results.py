"""Pools among the results of a search, by the symbols of their tokens."""

import json
import re
from typing import Any

from scan.extensions.markets import queries as pools
from scan.extensions.search.hooks import Search
from scan.http.requests import reader

PAIR = re.compile(r"([^\s/]+)(?:\s+|\s*/\s*)([^\s/]+)\Z")  # WETH/MUSD, WETH MUSD


def pools_of_pair(text: str) -> list[dict[str, Any]]:
    """Return the pools of two tokens, if a text of a search is their symbols."""
    if pair := PAIR.match(text):
        found: list[dict[str, Any]] = json.loads(pools.of_pair(reader(), *pair.groups()))
        return found
    return []


HOOKS = Search(others={"pools_of_pair.html": pools_of_pair})
