"""Pages about the whole index: /, and /live, the part of it that a script refreshes; /status, how
far the index is (/readyz has it for programs); /contracts, the newest first; and /keys, /webhooks
and /watchlist, whose scripts call the API.
"""

from typing import Any

import orjson
from flask import Blueprint, Response

from scan.ethereum.blocks import MAX_TOPICS
from scan.http.background_threads import read_status
from scan.http.current_request import reader
from scan.http.services import services
from scan.pages import hooks, records
from scan.pages.filtered_lists import entity_list
from scan.pages.site import page
from scan.queries import blocks, filtered_pages, holdings, network
from scan.queries.list_pages import Window
from scan.webhooks.messages import FORMATS
from scan.webhooks.registration import EVENT_TYPES, MAX_CONFIRMATIONS

NEWEST = Window(limit=8, offset=0)

blueprint = Blueprint("pages_home", __name__)


@blueprint.get("/")
def home() -> Response:
    status = orjson.loads(network.status(reader()))
    live = _newest()
    values = {"status": status, "rpc_url": services().settings.brand.public_rpc_url}
    for section in hooks.sections_of(hooks.HomeSection):
        values |= section.read(live["blocks"])
    return page("home.html", **values, **live)


@blueprint.get("/live")
def newest() -> Response:
    """Return the newest blocks and transactions, with which a script refreshes the home page."""
    return page("live.html", **_newest())


def _newest() -> dict[str, Any]:
    newest_blocks = orjson.loads(blocks.page(reader(), NEWEST).data)
    newest_transactions = orjson.loads(
        filtered_pages.filtered_page(reader(), "transactions", {}, NEWEST).data
    )
    hooks.complete_transactions(reader(), newest_transactions)
    of_extensions: dict[str, Any] = {}
    for section in hooks.sections_of(hooks.LiveSection):
        of_extensions |= section.read(newest_blocks)
    return {
        **of_extensions,
        "stats": orjson.loads(network.stats(reader())),
        "blocks": newest_blocks,
        "transactions": newest_transactions,
        "names": records.names_of([*newest_blocks, *newest_transactions]),
        "prices": holdings.unit_prices(reader()),
    }


@blueprint.get("/status")
def status() -> Response:
    reader().do_not_cache()  # it changes without a new block, too
    values: dict[str, Any] = {}
    for section in hooks.sections_of(hooks.StatusSection):
        values |= section.read()
    return page("status.html", status=read_status(services(), reader()), **values)


@blueprint.get("/keys")
def keys() -> Response:
    return page("keys.html")


@blueprint.get("/webhooks")
def webhooks() -> Response:
    return page(
        "webhooks.html",
        event_types=EVENT_TYPES,
        formats=FORMATS,
        most_topics=MAX_TOPICS,
        most_confirmations=MAX_CONFIRMATIONS,
    )


@blueprint.get("/watchlist")
def watch_list() -> Response:
    """Return the watch list's page, whose script reads the addresses from the browser's storage and
    their data from the API."""
    return page("watchlist.html")


@blueprint.get("/contracts")
def list_contracts() -> Response:
    creations = entity_list("contract_creations", "/contracts", "/contract-creations")
    return creations.show("contracts.html")
