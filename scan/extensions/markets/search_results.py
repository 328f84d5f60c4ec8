"""Pools among the results of a search, by the symbols of their tokens."""

import re
from typing import Any

import orjson

from scan.extensions.search.hooks import Results, Search
from scan.queries.reader import Reader

PAIR = re.compile(r"([^\s/]+)(?:\s+|\s*/\s*)([^\s/]+)\Z")  # WETH/MUSD, WETH MUSD
MAX_OF_PAIR = 20


def pools_of_pair(reader: Reader, text: str) -> list[dict[str, Any]]:
    """Return the pools of two tokens, those with most trades first, if a text of a search is their
    symbols."""
    if (pair := PAIR.match(text)) is None:
        return []
    (records,) = reader.row(
        "queries/pools_list_by_symbols", symbol=pair[1], other_symbol=pair[2], limit=MAX_OF_PAIR
    )
    return list(orjson.loads(records))


HOOKS = Search(
    results={"pool": Results("Pools", "/pool/", pools_of_pair, template="pools_of_pair.html")}
)
