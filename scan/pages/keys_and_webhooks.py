"""/keys, /webhooks and /watchlist, whose scripts call the API."""

from flask import Blueprint, Response

from scan.pages.site import page
from scan.webhooks.registration import EVENT_TYPES

blueprint = Blueprint("pages_accounts", __name__)


@blueprint.get("/keys")
def keys() -> Response:
    return page("keys.html")


@blueprint.get("/webhooks")
def webhooks() -> Response:
    return page("webhooks.html", event_types=EVENT_TYPES)


@blueprint.get("/watchlist")
def watch_list() -> Response:
    """Return the watch list's page, whose script reads the addresses from the browser's storage and
    their data from the API."""
    return page("watchlist.html")
