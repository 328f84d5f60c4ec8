"""Items of tokens with their owners and transfers: GET /api/v1/tokens/:address/items, /items/:id,
its /transfers, and /addresses/:address/items; the page /nft/:address/:id, and pictures in lists."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import flask
import orjson
from flask import Blueprint, Flask, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import NotFound
from scan.extensions.items import queries as items
from scan.extensions.items.media_cache import ItemMedia, Media
from scan.extensions.items.settings import Settings as MediaSettings
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.hooks import Interfaces, Service
from scan.http.interfaces import REST, Interface
from scan.http.json_responses import Response, json_value
from scan.http.list_responses import LISTED, list_response
from scan.http.services import Services
from scan.outbound import http_client
from scan.pages import filtered_lists, hooks, site
from scan.pages.records import address_of, names_of
from scan.queries import tokens
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader
from scan.server.responses import Kept
from scan.settings import Settings

# A list shows many pictures, which are charged to the limit of the address over all keys alone.
PICTURES = Interface(REST.refuse, prefixes=("/nft/pictures/",), has_address_limit=True)


def register(_app: Flask, settings: Settings) -> Sequence[Interface]:
    return (PICTURES,) if settings.pages else ()


api_views = Blueprint("items", __name__)


@api_views.get("/tokens/<address>/items")
def list_items(address: str) -> Response:
    key = parameters.address(address)
    read = partial(items.page, reader(), key)
    return list_response("items", query_arguments(*LISTED), read, address=key)


@api_views.get("/tokens/<address>/items/<token_id>")
def get_item(address: str, token_id: str) -> Response:
    query_arguments()
    item = items.get(reader(), parameters.address(address), parameters.token_id(token_id))
    record = orjson.loads(item.record)
    detail = {
        **record,
        "unproven": [
            *record["unproven"],
            *(["owners"] if "owner" in record["unproven"] else []),
            "tokenUri",
            "tokenUriUnavailable",
            "metadata",
            "metadataUnavailable",
        ],
        "tokenUri": item.uri.uri,
        "tokenUriUnavailable": item.uri.problem,
        "owners": orjson.Fragment(item.owners),
        "transfers": orjson.Fragment(item.transfers),
        "metadata": _metadata(item.media),
        "metadataUnavailable": item.media.problem,
    }
    return json_value(detail)


def _metadata(media: Media) -> dict[str, object] | None:
    metadata = media.metadata
    if metadata is None:
        return None
    return {
        "name": metadata.name,
        "description": metadata.description,
        "image": metadata.image_link,
        "imageType": media.picture.content_type if media.picture else None,
        "attributes": [attribute._asdict() for attribute in metadata.attributes],
    }


@api_views.get("/tokens/<address>/items/<token_id>/transfers")
def list_item_transfers(address: str, token_id: str) -> Response:
    key, number = parameters.address(address), parameters.token_id(token_id)
    read = partial(items.transfers, reader(), key, number)
    return list_response("transfers", query_arguments(*LISTED), read)


@api_views.get("/addresses/<address>/items")
def list_items_held(address: str) -> Response:
    key = parameters.address(address)
    read = partial(items.held_by, reader(), key)
    return list_response("items", query_arguments(*LISTED), read, kind="itemBalances", address=key)


def item_media(core: Services) -> ItemMedia:
    settings, media = core.settings, core.settings.of(MediaSettings)
    if not media.nft_media:
        return ItemMedia(None)
    fetcher = http_client.HttpClient(http_client.tls_context(settings.ca_bundle))
    return ItemMedia(fetcher, media.ipfs_gateway, settings.webhook_allow_networks)


page_views = Blueprint("pages_items", __name__)


# A picture may be a document with scripts. It is shown so that nothing in it runs or is loaded.
PICTURE_HEADERS = {
    "Content-Security-Policy": site.DRAWING_POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
}


@page_views.get("/nft/<address>")
def find_item(address: str) -> Response:
    """Redirect to the item whose id was typed, or without an id to the token's list."""
    token, text = to_hex(address_of(address)), request.args.get("id", "").strip().removeprefix("#")
    path = f"/token/{token}?tab=items"
    if text:
        path = f"/nft/{token}/{parameters.token_id(text.lstrip('0') or '0')}"
    return flask.Response(status=303, headers={"Location": path})


@page_views.get("/nft/<address>/<token_id>/picture")
def get_picture(address: str, token_id: str) -> Response:
    """Return the picture of an item, for the item's page."""
    item = items.get(reader(), address_of(address), parameters.token_id(token_id))
    picture = item.media.picture
    if picture is None:
        raise NotFound("There is no picture of this item.")
    return flask.Response(picture.content, mimetype=picture.content_type, headers=PICTURE_HEADERS)


@page_views.get("/nft/pictures/<digest>/<address>/<token_id>")
def get_shown_picture(digest: str, address: str, token_id: str) -> Response:
    """Return the picture that a list has just shown. One that is no longer kept, or was shown by
    another instance, is read by the item's own path, and charged as that."""
    query_arguments()
    key, number = address_of(address), parameters.token_id(token_id)
    picture = reader().sources.get(ItemMedia).shown(parameters.digest(digest).hex())
    reader().do_not_cache()
    if picture is None:
        location = f"/nft/{to_hex(key)}/{number}/picture"
        headers = {"Location": location, "Cache-Control": Kept.NEVER}
        return flask.Response(status=302, headers=headers)
    headers = {**PICTURE_HEADERS, "Cache-Control": Kept.FOR_EVER}
    return flask.Response(picture.content, mimetype=picture.content_type, headers=headers)


@page_views.get("/nft/<address>/<token_id>")
def show_item(address: str, token_id: str) -> Response:
    key, number = address_of(address), parameters.token_id(token_id)
    item = items.get(reader(), key, number)
    transfer_list = filtered_lists.filtered_list(
        f"/nft/{to_hex(key)}/{number}",
        f"/tokens/{to_hex(key)}/items/{number}/transfers",
        (),
        lambda window, _: items.transfers(reader(), key, number, window),
        paging=filtered_lists.UNORDERED,
    )
    owners = json.loads(item.owners)
    return transfer_list.response(
        "item.html",
        token=json.loads(tokens.get(reader(), key)),
        item=json.loads(item.record),
        uri=item.uri,
        media=item.media,
        owners=owners,
        shown=transfer_list,
        names=names_of([*transfer_list.records, *owners], to_hex(key)),
    )


def _tab_of(
    page: str, api_path: str, read: Callable[[Reader, bytes, Window], Page]
) -> Callable[[bytes], tuple[filtered_lists.FilteredList, Mapping[str, Any]]]:
    """Return the reader of a tab with items; the paths are those of its page and in the API."""

    def tab(key: bytes) -> tuple[filtered_lists.FilteredList, Mapping[str, Any]]:
        address = to_hex(key)
        item_list = filtered_lists.filtered_list(
            page.format(address),
            api_path.format(address),
            (),
            lambda window, _: read(reader(), key, window),
            tab="items",
            paging=filtered_lists.UNORDERED,
        )
        names = names_of(item_list.records, address)
        return item_list, {
            "names": names,
            "thumbnails": items.thumbnails(reader(), item_list.records),
        }

    return tab


HOOKS = (
    Interfaces(register=register),
    Api(blueprints=(api_views,)),
    Service(make=item_media),
    hooks.Pages(
        blueprints=(page_views,),
        tabs=(
            hooks.AddressTab(
                "items",
                "NFTs",
                70,
                template="address_items.html",
                group=hooks.HOLDINGS,
                read=_tab_of("/address/{}", "/addresses/{}/items", items.held_by),
            ),
            hooks.TokenTab(
                "items",
                "NFTs",
                30,
                lambda token: token["type"] != "BEP20" or token["itemCount"] is not None,
                counted="itemCount",
                template="token_items.html",
                read=_tab_of("/token/{}", "/tokens/{}/items", items.page),
            ),
        ),
    ),
)
