"""What other extensions add to feeds, in their feeds.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scan.queries.pages import Window
    from scan.queries.reader import Reader

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Feeds(Part):
    """Feeds of addresses."""

    module = "feeds"
    feeds: Mapping[str, Callable[[Reader, bytes, Window], list[dict[str, Any]]]]
    """The records of a feed of an address, by its name."""
