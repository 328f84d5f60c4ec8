"""The feed of a contract's events, where all logs are stored."""

from typing import Any

import orjson

from scan.errors import NotFound
from scan.extensions.logs import queries
from scan.extensions.web.feeds.hooks import Feeds
from scan.queries.pages import Window
from scan.queries.reader import Reader

NOT_STORED = "Feeds of events are made of stored logs alone (SCAN_LOGS=all)."


def _events(reader: Reader, address: bytes, window: Window) -> list[dict[str, Any]]:
    """Return a contract's newest logs with their events; raises NotFound."""
    if queries.stored_selection(reader) != "all":
        raise NotFound(NOT_STORED)
    records: list[dict[str, Any]] = orjson.loads(
        queries.page_by_filters(reader, window, address=address).data
    )
    return records


HOOKS = Feeds(feeds={"events": _events})
