"""GET /api/v1/pools, /pools/:address, its /candles, its /state and its /volume."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.markets import pool_state
from scan.extensions.markets import queries as pools
from scan.http.list_responses import LISTED, list_response
from scan.http.requests import Response, json_body, json_value, query_arguments, reader

blueprint = Blueprint("pools", __name__)


@blueprint.get("/pools")
def list_pools() -> Response:
    arguments = query_arguments("dex", "tokenAddress", "orderBy", *LISTED)
    filters = pools.read_filters(arguments)
    return list_response("pools", arguments, lambda window: pools.page(reader(), window, **filters))


@blueprint.get("/pools/<address>")
def get_pool(address: str) -> Response:
    query_arguments()
    return json_body(pools.get(reader(), parameters.pool(address)))


@blueprint.get("/pools/<address>/candles")
def list_candles(address: str) -> Response:
    key = parameters.pool(address)
    arguments = query_arguments("interval", "timeFrom", "timeTo", "limit")
    interval = parameters.one_of(arguments.get("interval", "1h"), "interval", pools.INTERVALS_S)
    first_s, last_s = (
        parameters.time_s(arguments[name], name, is_upper=name == "timeTo")
        if name in arguments
        else None
        for name in ("timeFrom", "timeTo")
    )
    limit = parameters.integer_text(
        arguments, "limit", default=pools.DEFAULT_CANDLES, least=1, most=pools.MAX_CANDLES
    )
    candles = pools.candles(reader(), key, interval, first_s, last_s, limit)
    next_s = "null" if candles.next_s is None else candles.next_s
    ends = f'"interval":"{interval}","nextTimeTo":{next_s}'
    return json_body(f'{{{ends},"candles":{candles.data}}}')


@blueprint.get("/pools/<address>/state")
def get_state(address: str) -> Response:
    query_arguments()
    return json_value(pool_state.get(reader(), parameters.pool(address)))


@blueprint.get("/pools/<address>/volume")
def get_volume(address: str) -> Response:
    query_arguments()
    return json_body(pools.volume(reader(), parameters.pool(address)))


HOOKS = Api(blueprints=(blueprint,))
