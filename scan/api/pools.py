"""GET /api/v1/pools, /pools/:address and its /candles."""

from flask import Blueprint, Response

from scan import parameters
from scan.http.list_responses import LISTED, list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.queries import pools
from scan.queries.entities import MAX_DEX_NAME

blueprint = Blueprint("pools", __name__)


@blueprint.get("/pools")
def list_pools() -> Response:
    arguments = query_arguments("dex", "tokenAddress", "orderBy", *LISTED)
    dex = None
    if "dex" in arguments:
        dex = parameters.text(arguments["dex"], "dex", most=MAX_DEX_NAME)
    token = parameters.optional_address(arguments, "tokenAddress")
    return list_response(
        "pools", arguments, lambda window: pools.page(reader(), window, dex=dex, token=token)
    )


@blueprint.get("/pools/<address>")
def get_pool(address: str) -> Response:
    query_arguments()
    return json_body(pools.get(reader(), parameters.address(address)))


@blueprint.get("/pools/<address>/candles")
def list_candles(address: str) -> Response:
    key = parameters.address(address)
    arguments = query_arguments("interval", "timeFrom", "timeTo")
    interval = parameters.one_of(arguments.get("interval", "1h"), "interval", pools.INTERVALS_S)
    first_s, last_s = (
        parameters.time_s(arguments[name], name, is_upper=name == "timeTo")
        if name in arguments
        else None
        for name in ("timeFrom", "timeTo")
    )
    candles = pools.candles(reader(), key, interval, first_s, last_s)
    return json_body(f'{{"interval":"{interval}","candles":{candles.data}}}')
