"""What other extensions add to searches, in their search_results.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scan.queries.reader import Reader

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Search(Part):
    """Searches."""

    module = "search_results"
    results: Callable[[Reader, str], Sequence[Mapping[str, Any]]] = lambda reader, text: ()
    """Records that a search shows first."""
    titles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The title of results and the beginning of their pages' paths, by type."""
    others: Mapping[str, Callable[[str], Sequence[Mapping[str, Any]]]] = field(default_factory=dict)
    """Records of a template that the page of results includes, by the template."""
    path_of_hash: Callable[[bytes], str | None] = lambda hash_: None
    """The path of the page for a hash, without the hash; None where it has none."""
