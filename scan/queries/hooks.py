"""What extensions add to queries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scan.queries.pages import Page
from scan.registry import Part


@dataclass(frozen=True, kw_only=True)
class Entities(Part):
    """Entities whose pages are not plain lists."""

    module = "api"
    chapter = "views"
    pages: Mapping[str, Callable[..., Page]]
    """Functions of a reader, a window and filters, by entity."""
