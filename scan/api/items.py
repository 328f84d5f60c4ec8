"""GET /api/v1/tokens/:address/items, /items/:id and /items/:id/transfers."""

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.http.lists import PAGED, list_body, window_of
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.queries import items

blueprint = Blueprint("items", __name__)


@blueprint.get("/tokens/<address>/items")
def list_items(address: str) -> Response:
    window = window_of(query_arguments(*PAGED))
    page = items.page(reader(), parameters.address(address), window)
    return list_body("items", page)


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
    }
    return json_body(orjson.dumps(detail))


@blueprint.get("/tokens/<address>/items/<token_id>/transfers")
def list_item_transfers(address: str, token_id: str) -> Response:
    window = window_of(query_arguments(*PAGED))
    key = parameters.address(address)
    page = items.transfers(reader(), key, parameters.token_id(token_id), window)
    return list_body("transfers", page)
