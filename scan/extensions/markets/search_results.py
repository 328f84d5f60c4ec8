"""Pools among the results of a search, by the symbols of their tokens."""

import json
import re
from typing import Any

from scan.extensions.markets import queries as pools
from scan.extensions.search.hooks import Results, Search
from scan.queries.reader import Reader

PAIR = re.compile(r"([^\s/]+)(?:\s+|\s*/\s*)([^\s/]+)\Z")  # WETH/MUSD, WETH MUSD


def pools_of_pair(reader: Reader, text: str) -> list[dict[str, Any]]:
    """Return the pools of two tokens, if a text of a search is their symbols."""
    if pair := PAIR.match(text):
        records: list[dict[str, Any]] = json.loads(pools.pools_of_pair(reader, *pair.groups()))
        return records
    return []


HOOKS = Search(
    results={"pool": Results("Pools", "/pool/", pools_of_pair, template="pools_of_pair.html")}
)
