"""/dex, pools by their trades, and /pool/:address with its candles."""

import json

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import InvalidParameter
from scan.http.requests import reader
from scan.pages.records import address_of, listing, names_of, window
from scan.pages.site import page
from scan.pages.svg_charts import candle_chart
from scan.queries import dex_trades, pools

blueprint = Blueprint("pages_pools", __name__)


@blueprint.get("/dex")
def list_pools() -> Response:
    shown = listing(pools.page(reader(), window()))
    return page("dex.html", pools=shown)


@blueprint.get("/pool/<address>")
def get_pool(address: str) -> Response:
    key = address_of(address)
    interval = request.args.get("interval", "1h")
    interval = parameters.one_of(interval, "interval", pools.INTERVALS_S)
    pool = json.loads(pools.get(reader(), key))
    volume = json.loads(pools.volume(reader(), key))
    try:
        candles = json.loads(pools.candles(reader(), key, interval).data)
    except InvalidParameter:  # too many trades in the newest interval
        candles = []
    priced = [candle for candle in candles if candle["open"] is not None]
    shown = listing(dex_trades.page(reader(), window(), pool=key))
    return page(
        "pool.html",
        pool=pool,
        interval=interval,
        intervals=list(pools.INTERVALS_S),
        chart=candle_chart(priced, title="Price", span_s=pools.INTERVALS_S[interval]),
        volume=volume,
        trades=shown,
        names=names_of([*shown.records, pool], pool["token0"], pool["token1"]),
    )
