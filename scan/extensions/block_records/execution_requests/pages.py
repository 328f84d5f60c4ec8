"""The requests that a block submitted, on its page."""

import json

from scan.http.requests import reader
from scan.pages.hooks import BlockSection, Pages
from scan.pages.records import Record
from scan.queries.pages import Window, filtered_page


def requests_of(block: Record, window: Window) -> dict[str, list[Record]]:
    """Return the requests of a block that its section shows."""
    if not block.get("requestCount"):
        return {"execution_requests": []}
    page = filtered_page(reader(), "execution_requests", {}, window)
    return {"execution_requests": json.loads(page.data)}


HOOKS = Pages(sections=(BlockSection({"block": "block_execution_requests.html"}, requests_of),))
