"""/nft/:address/:id: an item of a token, its owners and its transfers."""

import json

from flask import Blueprint, Response

from scan import parameters
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.records import address_of, listing, names_of, window
from scan.pages.site import page
from scan.queries import items, tokens

blueprint = Blueprint("pages_items", __name__)


@blueprint.get("/nft/<address>/<token_id>")
def get_item(address: str, token_id: str) -> Response:
    key, number = address_of(address), parameters.token_id(token_id)
    item = items.get(reader(), key, number)
    shown = listing(items.transfers(reader(), key, number, window()))
    owners = json.loads(item.owners)
    return page(
        "item.html",
        token=json.loads(tokens.get(reader(), key)),
        item=json.loads(item.record),
        uri=item.uri,
        owners=owners,
        shown=shown,
        names=names_of([*shown.records, *owners], to_hex(key)),
    )
