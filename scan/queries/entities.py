"""The entities of /query and of other lists that can be filtered, each with its pages."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from scan import registry
from scan.cached_values import LazyMapping
from scan.queries import blocks, contracts, tokens
from scan.queries.contracts import selectors
from scan.queries.hooks import Entities
from scan.queries.pages import Page, Value, Window, filtered_page, read_values
from scan.queries.reader import Reader

RANGE = ("blockFrom", "blockTo", "timeFrom", "timeTo")

# The lists of other entities are plain ones.
_PAGES: Mapping[str, Callable[..., Page]] = LazyMapping(
    lambda: {
        "blocks": blocks.page,
        "tokens": tokens.page,
        "token_transfers": tokens.transfers_page,
        "contract_creations": contracts.page,
        **registry.merged(part.pages for part in registry.parts(Entities)),
    }
)


def counts(reader: Reader, address: bytes, lists: Collection[str]) -> Mapping[str, int]:
    """Return the lengths of an address's lists by name, without empty ones; `lists` are names of
    lists that addresses or list_counts count."""
    by_list: Mapping[str, int]
    (by_list,) = reader.row("queries/list_counts_get", key=address, lists=[*lists])
    return by_list


def page(reader: Reader, entity: str, window: Window, arguments: Mapping[str, Any]) -> Page:
    """Return a page of the records that match all filters given; raises InvalidParameter."""
    return matching_page(reader, entity, window, read_filters(reader, entity, arguments))


def matching_page(reader: Reader, entity: str, window: Window, values: Mapping[str, Value]) -> Page:
    """Return a page of the records that match the values of read_filters()."""
    if entity not in _PAGES:
        return filtered_page(reader, entity, values, window)
    return _PAGES[entity](reader, window, **values)


def read_filters(reader: Reader, entity: str, arguments: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of given filters by parameter, of a method its selectors; raises
    InvalidParameter."""
    values = read_values(entity, arguments)
    if "method" in values:
        values["method"] = selectors(reader, str(values["method"]))
    return values
