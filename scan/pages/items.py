"""/nft/:address/:id: one item of a token, its owners and its transfers."""

import json

from flask import Blueprint, Response

from scan import parameters
from scan.hex import to_hex
from scan.http.token_items import read_item, read_item_transfers
from scan.pages.records import PAGE_SIZE, address_of, listing, names_of, page_request, record
from scan.pages.site import page

blueprint = Blueprint("pages_items", __name__)


@blueprint.get("/nft/<address>/<token_id>")
def get_item(address: str, token_id: str) -> Response:
    key, number = address_of(address), parameters.token_id(token_id)
    item = read_item(key, number)
    shown = listing(read_item_transfers(key, number, PAGE_SIZE, page_request().offset))
    owners = json.loads(item.owners)
    return page(
        "item.html",
        token=record("api/tokens_get", address=key),
        item=json.loads(item.record),
        uri=item.uri,
        owners=owners,
        shown=shown,
        names=names_of([*shown.records, *owners], to_hex(key)),
    )
