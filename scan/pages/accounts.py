"""/keys and /webhooks, whose scripts call the API with a wallet or a key."""

from flask import Blueprint, Response

from scan.pages.site import page

blueprint = Blueprint("pages_accounts", __name__)


@blueprint.get("/keys")
def keys() -> Response:
    return page("keys.html")


@blueprint.get("/webhooks")
def webhooks() -> Response:
    return page("webhooks.html")
