"""The requests that a block submitted, on its page."""

import json

from scan import hooks
from scan.http.requests import reader
from scan.pages.records import Record
from scan.pages.sections import BlockSection
from scan.queries.pages import Window, filtered_page


def requests_of(block: Record, window: Window) -> dict[str, list[Record]]:
    """Return the requests of a block that its section shows."""
    if not block.get("requestCount"):
        return {"execution_requests": []}
    page = filtered_page(reader(), "execution_requests", {}, window)
    return {"execution_requests": json.loads(page.data)}


HOOKS = hooks.Pages(
    sections=(BlockSection({"block": "block_execution_requests.html"}, requests_of),)
)
