"""What other extensions add to searches, in their search_results.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scan.queries.reader import Reader

from scan.hooks import Part


class Results(NamedTuple):
    """Results of one type: their title, the beginning of the paths of their pages, and what reads
    their records."""

    title: str
    path: str
    read: Callable[[Reader, str], Sequence[Mapping[str, Any]]] = lambda reader, text: ()


@dataclass(frozen=True, kw_only=True)
class Search(Part):
    """Searches."""

    module = "search_results"
    results: Mapping[str, Results] = field(default_factory=dict)
    """Results that a search shows first, by the type in their records."""
    others: Mapping[str, Callable[[str], Sequence[Mapping[str, Any]]]] = field(default_factory=dict)
    """Records of a template that the page of results includes, by the template."""
    path_of_hash: Callable[[bytes], str | None] = lambda hash_: None
    """The path of the page for a hash, without the hash; None where it has none."""
