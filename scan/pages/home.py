"""/, and /live, the part of it that a script refreshes."""

import json
from typing import Any

from flask import Blueprint, Response

from scan.http.requests import reader
from scan.http.services import services
from scan.pages.hooks import HomeSection, LiveSection, complete_transactions, sections_of
from scan.pages.records import listing, names_of
from scan.pages.site import page
from scan.queries import blocks, network
from scan.queries.pages import Window, filtered_page

NEWEST = Window(limit=8, offset=0)

blueprint = Blueprint("pages_home", __name__)


@blueprint.get("/")
def home() -> Response:
    status = json.loads(network.status(reader()))
    live = _newest()
    own = {"status": status, "rpc_url": services().settings.brand.public_rpc_url}
    for section in sections_of(HomeSection):
        own |= section.read(live["blocks"])
    return page("home.html", **own, **live)


@blueprint.get("/live")
def newest() -> Response:
    """Return the newest blocks and transactions, with which a script refreshes the home page."""
    return page("live.html", **_newest())


def _newest() -> dict[str, Any]:
    newest_blocks = listing(blocks.page(reader(), NEWEST)).records
    newest_transactions = listing(filtered_page(reader(), "transactions", {}, NEWEST)).records
    complete_transactions(newest_transactions)
    of_extensions: dict[str, Any] = {}
    for section in sections_of(LiveSection):
        of_extensions |= section.read(newest_blocks)
    return {
        **of_extensions,
        "stats": json.loads(network.stats(reader())),
        "blocks": newest_blocks,
        "transactions": newest_transactions,
        "names": names_of([*newest_blocks, *newest_transactions]),
    }
