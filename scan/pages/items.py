"""/nft/:address/:id: an item of a token, its owners and its transfers."""

import json

from flask import Blueprint, Response

from scan import parameters
from scan.errors import NotFound
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, filtered_list
from scan.pages.records import address_of, names_of
from scan.pages.static_files import DRAWING_POLICY
from scan.queries import items, tokens

blueprint = Blueprint("pages_items", __name__)


# A picture may be a document with scripts. Here it is shown, and nothing in it runs or is loaded.
PICTURE_HEADERS = {
    "Content-Security-Policy": DRAWING_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@blueprint.get("/nft/<address>/<token_id>/picture")
def get_picture(address: str, token_id: str) -> Response:
    """Return the picture of an item, for the page of it."""
    item = items.get(reader(), address_of(address), parameters.token_id(token_id))
    picture = item.media.picture
    if picture is None:
        raise NotFound("There is no picture of this item.")
    return Response(picture.content, mimetype=picture.content_type, headers=PICTURE_HEADERS)


@blueprint.get("/nft/<address>/<token_id>")
def get_item(address: str, token_id: str) -> Response:
    key, number = address_of(address), parameters.token_id(token_id)
    item = items.get(reader(), key, number)
    shown = filtered_list(
        *(f"/nft/{to_hex(key)}/{number}", f"/tokens/{to_hex(key)}/items/{number}/transfers", ()),
        lambda window, _: items.transfers(reader(), key, number, window),
        place=UNORDERED,
    )
    owners = json.loads(item.owners)
    return shown.response(
        "item.html",
        token=json.loads(tokens.get(reader(), key)),
        item=json.loads(item.record),
        uri=item.uri,
        media=item.media,
        owners=owners,
        shown=shown,
        names=names_of([*shown.records, *owners], to_hex(key)),
    )
