"""What extensions add to queries."""

from collections.abc import Callable, Mapping

from scan.queries.list_pages import Page
from scan.registry import Part


class Entities(Part, module="api", chapter="views"):
    """Entities whose pages are not plain lists."""

    pages: Mapping[str, Callable[..., Page]]
    """Functions of a reader, a window and filters, by entity."""
