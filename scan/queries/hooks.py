"""What extensions add to queries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from scan.queries.list_pages import Page
from scan.queries.reader import Reader
from scan.registry import Part


class OwnFilters(NamedTuple):
    """The filters of an entity that is no table: their keys in /query, besides ranges, and what
    reads their values; it may raise InvalidParameter."""

    keys: Sequence[str]
    read: Callable[[Reader, Mapping[str, Any]], Mapping[str, Any]]


class Entities(Part, module="api", chapter="views"):
    """Entities whose pages are not plain lists."""

    pages: Mapping[str, Callable[..., Page]]
    """Functions of a reader, a window and filters, by entity."""
    filters: Mapping[str, OwnFilters] = field(default_factory=dict)
    """Filters of entities that sql/lists.toml does not have, which are queried."""
