"""GET /api/v1/tokens/:address/items, /items/:id, its /transfers, and /addresses/:address/items."""

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.items import queries as items
from scan.extensions.items.item_media.media_cache import ItemMedia, Media
from scan.extensions.items.item_media.settings import Settings
from scan.http.hooks import Service
from scan.http.list_responses import LISTED, list_response
from scan.http.request_state import Services
from scan.http.requests import Response, json_value, query_arguments, reader
from scan.outbound.connection import tls_context
from scan.outbound.document_fetcher import DocumentFetcher

blueprint = Blueprint("items", __name__)


@blueprint.get("/tokens/<address>/items")
def list_items(address: str) -> Response:
    key = parameters.address(address)
    return list_response(
        "items", query_arguments(*LISTED), lambda window: items.page(reader(), key, window), own=key
    )


@blueprint.get("/tokens/<address>/items/<token_id>")
def get_item(address: str, token_id: str) -> Response:
    query_arguments()
    item = items.get(reader(), parameters.address(address), parameters.token_id(token_id))
    detail = {
        **orjson.loads(item.record),
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


@blueprint.get("/tokens/<address>/items/<token_id>/transfers")
def list_item_transfers(address: str, token_id: str) -> Response:
    key, number = parameters.address(address), parameters.token_id(token_id)
    return list_response(
        "transfers",
        query_arguments(*LISTED),
        lambda window: items.transfers(reader(), key, number, window),
    )


@blueprint.get("/addresses/<address>/items")
def list_items_held(address: str) -> Response:
    key = parameters.address(address)
    return list_response(
        "items",
        query_arguments(*LISTED),
        lambda window: items.held_by(reader(), key, window),
        kind="itemBalances",
        own=key,
    )


def item_media(core: Services) -> ItemMedia:
    settings, media = core.settings, core.settings.of(Settings)
    if not media.nft_media:
        return ItemMedia(None)
    fetcher = DocumentFetcher(tls_context(settings.ca_bundle))
    return ItemMedia(fetcher, media.ipfs_gateway, settings.webhook_allow_networks)


HOOKS = (Api(blueprints=(blueprint,)), Service(make=item_media))
