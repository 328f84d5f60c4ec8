"""Events among the results of a search, by name, signature or first topic."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.extensions.search.hooks import MAX_DECLARED, Results, Search, signature_result
from scan.queries import contracts
from scan.queries.reader import Reader


def events_found(reader: Reader, text: str) -> Sequence[Mapping[str, Any]]:
    """Return the events of verified contracts and standards, of which logs are listed."""
    return [
        signature_result("event", event.signature, event.signature, text)
        for event in contracts.declared(reader, text, contracts.EVENT, MAX_DECLARED)
    ]


HOOKS = Search(results={"event": Results("Events", "/events?topic0=", events_found, is_last=True)})
