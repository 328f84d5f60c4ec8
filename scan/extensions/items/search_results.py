"""Items among the results of a search, by the name and id of one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

from scan.extensions.search.hooks import Results, Search
from scan.queries.reader import Reader

_NAME_AND_ID = re.compile(r"(.*[^\s#])\s*[\s#]\s*([0-9]{1,78})\Z", re.ASCII | re.DOTALL)


def search_results(reader: Reader, text: str) -> Sequence[Mapping[str, Any]]:
    """Return the items that a search such as `LANTERN #7` means: of tokens whose symbol or name
    begins with the text."""
    match = _NAME_AND_ID.match(text.strip())
    if match is None or int(match[2]) >= 2**256:
        return ()
    (records,) = reader.row("queries/items_search", text=match[1], token_id=int(match[2]))
    return cast("list[Mapping[str, Any]]", orjson.loads(records))


HOOKS = Search(results={"item": Results("NFTs", "/nft/", search_results)})
