"""Addresses among the results of a search, by the names that deployments gave their contracts."""

from collections.abc import Sequence
from typing import Any

import orjson

from scan.extensions.search.hooks import Results, Search
from scan.queries.reader import Reader


def deployed_contracts(reader: Reader, text: str) -> Sequence[dict[str, Any]]:
    """Return the addresses whose contract has a name with the text."""
    (records,) = reader.row("queries/deployments_search", text=text)
    return list(orjson.loads(records))


HOOKS = Search(results={"deployment": Results("Addresses", "/address/", deployed_contracts)})
