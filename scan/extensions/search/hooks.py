"""What other extensions add to searches, in their search_results.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scan.queries.reader import Reader

from scan.registry import Part

MAX_DECLARED = 5  # events, and errors
MAX_NAME = 100  # characters; longer texts are nobody's name


class Results(NamedTuple):
    """Results of one type: their title, the beginning of the paths of their pages, what reads their
    records, and whether there is one of a hash. A search shows them first, with `is_last` after
    names, or on its page alone by their own template. Texts of more than MAX_NAME characters are
    not read."""

    title: str
    path: str
    read: Callable[[Reader, str], Sequence[Mapping[str, Any]]] = lambda reader, text: ()
    has: Callable[[Reader, bytes], bool] = lambda reader, hash_: False
    template: str = ""
    is_last: bool = False

    def records(self, reader: Reader, text: str) -> Sequence[Mapping[str, Any]]:
        return self.read(reader, text) if len(text) <= MAX_NAME else ()


def exact_result(type_: str, value: str, name: str, unproven: Sequence[str]) -> dict[str, Any]:
    """Return the record of a result whose name is the text of the search."""
    of_contracts = ("symbol", "holderCount", "firstSeen", "verified", "largerNamesake", "namesake")
    result = {"type": type_, "value": value, "name": name, "match": "exact"}
    return {**result, **dict.fromkeys(of_contracts), "unproven": [*unproven]}


def signature_result(type_: str, value: str, signature: str, text: str) -> dict[str, Any]:
    """Return the record of an event or error that a search finds by its name or hash."""
    is_hash = text[:2].lower() == "0x"
    is_exact = is_hash or signature == text or signature.partition("(")[0] == text
    record = exact_result(type_, value, signature, ())
    return {**record, "match": "exact" if is_exact else "prefix"}


class Search(Part, module="search_results"):
    """Searches."""

    results: Mapping[str, Results]
    """Results by the type in their records."""
