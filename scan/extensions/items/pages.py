"""/nft/:address/:id: an item of a token, its owners and its transfers; pictures in lists."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import NotFound
from scan.extensions.items import queries as items
from scan.extensions.items.item_media.media_cache import ItemMedia
from scan.extensions.items.queries import ItemId
from scan.hex import to_hex
from scan.http.application import FOR_EVER
from scan.http.requests import query_arguments, reader
from scan.pages.filtered_lists import UNORDERED, FilteredList, filtered_list
from scan.pages.hooks import HOLDINGS, AddressTab, Pages, TokenTab
from scan.pages.records import Record, address_of, names_of
from scan.pages.static_files import DRAWING_POLICY
from scan.queries import tokens
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

blueprint = Blueprint("pages_items", __name__)


# A picture may be a document with scripts. It is shown so that nothing in it runs or is loaded.
PICTURE_HEADERS = {
    "Content-Security-Policy": DRAWING_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@blueprint.get("/nft/<address>")
def find_item(address: str) -> Response:
    """Redirect to the item whose id was typed, or without an id to the token's list."""
    token, text = to_hex(address_of(address)), request.args.get("id", "").strip().removeprefix("#")
    if not text:
        return _redirect(f"/token/{token}?tab=items")
    return _redirect(f"/nft/{token}/{parameters.token_id(text.lstrip('0') or '0')}")


def _redirect(path: str) -> Response:
    return Response(status=303, headers={"Location": path})


@blueprint.get("/nft/<address>/<token_id>/picture")
def get_picture(address: str, token_id: str) -> Response:
    """Return the picture of an item, for the item's page."""
    item = items.get(reader(), address_of(address), parameters.token_id(token_id))
    picture = item.media.picture
    if picture is None:
        raise NotFound("There is no picture of this item.")
    return Response(picture.content, mimetype=picture.content_type, headers=PICTURE_HEADERS)


@blueprint.get("/nft/pictures/<digest>/<address>/<token_id>")
def get_shown_picture(digest: str, address: str, token_id: str) -> Response:
    """Return the picture that a list has just shown. One that is no longer kept, or was shown by
    another instance, is read by the item's own path, and charged as that."""
    query_arguments()
    key, number = address_of(address), parameters.token_id(token_id)
    picture = reader().sources.get(ItemMedia).shown(parameters.digest(digest).hex())
    reader().do_not_cache()
    if picture is None:
        location = f"/nft/{to_hex(key)}/{number}/picture"
        return Response(status=302, headers={"Location": location, "Cache-Control": "no-store"})
    headers = {**PICTURE_HEADERS, "Cache-Control": FOR_EVER}
    return Response(picture.content, mimetype=picture.content_type, headers=headers)


@blueprint.get("/nft/<address>/<token_id>")
def get_item(address: str, token_id: str) -> Response:
    key, number = address_of(address), parameters.token_id(token_id)
    item = items.get(reader(), key, number)
    shown = filtered_list(
        f"/nft/{to_hex(key)}/{number}",
        f"/tokens/{to_hex(key)}/items/{number}/transfers",
        (),
        lambda window, _: items.transfers(reader(), key, number, window),
        paging=UNORDERED,
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


def _tab_of(
    page: str, api_path: str, read: Callable[[Reader, bytes, Window], Page]
) -> Callable[[bytes], tuple[FilteredList, Mapping[str, Any]]]:
    """Return the reader of a tab with items; the paths are those of its page and in the API."""

    def tab(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
        address = to_hex(key)
        shown = filtered_list(
            page.format(address),
            api_path.format(address),
            (),
            lambda window, _: read(reader(), key, window),
            tab="items",
            paging=UNORDERED,
        )
        names = names_of(shown.records, address)
        return shown, {"names": names, "thumbnails": _thumbnails(shown.records)}

    return tab


def _thumbnails(records: Iterable[Record]) -> items.Thumbnails:
    """Return thumbnails of a list's records."""
    return items.thumbnails(
        reader(),
        [
            ItemId(
                bytes.fromhex(record["tokenAddress"][2:]),
                record.get("tokenType") or record["type"],
                int(record["tokenId"]),
            )
            for record in records
        ],
    )


HOOKS = Pages(
    blueprints=(blueprint,),
    tabs=(
        AddressTab(
            "items",
            "NFTs",
            70,
            template="address_items.html",
            group=HOLDINGS,
            read=_tab_of("/address/{}", "/addresses/{}/items", items.held_by),
        ),
        TokenTab(
            "items",
            "NFTs",
            30,
            lambda token: token["type"] != "BEP20" or token["itemCount"] is not None,
            counted="itemCount",
            template="token_items.html",
            read=_tab_of("/token/{}", "/tokens/{}/items", items.page),
        ),
    ),
)
