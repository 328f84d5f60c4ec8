"""GET /api/v1/pools."""

from flask import Blueprint, Response

from scan import parameters
from scan.http.lists import PAGED, list_body, window_of
from scan.http.requests import query_arguments, reader
from scan.queries import pools
from scan.queries.entities import MAX_DEX_NAME

blueprint = Blueprint("pools", __name__)


@blueprint.get("/pools")
def list_pools() -> Response:
    arguments = query_arguments("dex", "tokenAddress", "orderBy", *PAGED)
    dex = None
    if "dex" in arguments:
        dex = parameters.text(arguments["dex"], "dex", most=MAX_DEX_NAME)
    token = parameters.optional_address(arguments, "tokenAddress")
    return list_body("pools", pools.page(reader(), window_of(arguments), dex=dex, token=token))
