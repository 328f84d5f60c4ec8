"""What other extensions add to lists of logs, in their event_tab.py."""

from collections.abc import Callable, Sequence

from flask import Response

from scan.queries.reader import Reader
from scan.registry import Part


class EventTab(Part, module="event_tab"):
    """Lists of single events of a contract in its tab of events."""

    names: Callable[[Reader, bytes], Sequence[tuple[str, str]]]
    """Returns what identifies the events of a contract that have such a list, with their names."""
    respond: Callable[[bytes, str], Response]
    """Returns the page with the list of a contract's event, which is identified so."""
