"""The entities of /query and of other lists that can be filtered, each with its pages."""

from collections.abc import Callable, Mapping
from typing import Any

from scan import registry
from scan.cached_values import LazyMapping
from scan.errors import InvalidParameter
from scan.parameters import Faults
from scan.queries import blocks, contracts, hooks, tokens
from scan.queries.filter_values import FILTER_KEYS, FILTERS, PARSER_OF_KEY
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

RANGE = ("blockFrom", "blockTo", "timeFrom", "timeTo")

# Reads a page of an entity's records that match the values of read_filters().
ReadEntity = Callable[[Reader, str, Mapping[str, Any], Window], Page]


def _pages() -> Mapping[str, ReadEntity]:
    def unpacking(page: Callable[..., Page]) -> ReadEntity:
        return lambda reader, entity, values, window: page(reader, window, **values)

    of_their_own = {
        "blocks": blocks.page,
        "tokens": tokens.page,
        "token_transfers": tokens.transfers_page,
        "contract_creations": contracts.page,
        **registry.merged(part.pages for part in registry.parts(hooks.Entities)),
    }
    return {
        **dict.fromkeys(FILTERS, filtered_page),
        **{entity: unpacking(page) for entity, page in of_their_own.items()},
    }


PAGES = LazyMapping(_pages)
OWN_FILTERS: Mapping[str, hooks.OwnFilters] = LazyMapping(
    lambda: registry.merged(part.filters for part in registry.parts(hooks.Entities))
)


def page(reader: Reader, entity: str, window: Window, arguments: Mapping[str, Any]) -> Page:
    """Return a page of the records that match all filters given; raises InvalidParameter."""
    return PAGES[entity](reader, entity, read_filters(reader, entity, arguments), window)


def read_filters(reader: Reader, entity: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of given filters, by the parameters of the entity's statements; of a method
    its selectors.

    Raises InvalidParameter, also where two keys stand for the same filter.
    """
    if entity in OWN_FILTERS:
        return OWN_FILTERS[entity].read(reader, arguments)
    if arguments.keys().isdisjoint(FILTER_KEYS[entity]):
        return {}
    faults = Faults()
    keys: dict[str, str] = {}
    for key, param in [(f.key, f.param) for f in FILTERS[entity] if f.key in arguments]:
        if param in keys:
            reason = f"{key} and {keys[param]} are the same: give one."
            raise InvalidParameter(reason, field=key)
        keys[param] = key
    values = {
        param: faults.read(PARSER_OF_KEY[key], arguments[key], key) for param, key in keys.items()
    }
    faults.raise_found()
    if "method" in values:
        values["method"] = contracts.selectors(reader, str(values["method"]))
    return values
