"""The blobs of a block, on its page."""

import json

from scan.http.requests import reader
from scan.pages.hooks import BlockSection, Pages
from scan.pages.records import Record
from scan.queries.pages import Window, filtered_page


def blobs_of(block: Record, window: Window) -> dict[str, list[Record]]:
    """Return the blobs of a block that its section shows."""
    if "blobCount" not in block:
        return {"blobs": []}
    return {"blobs": json.loads(filtered_page(reader(), "blobs", {}, window).data)}


HOOKS = Pages(sections=(BlockSection({"block": "block_blobs.html"}, blobs_of),))
