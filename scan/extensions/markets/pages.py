"""/dex, the pools by number of trades; /pool/:address with its candles."""

import json
from decimal import Decimal
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.markets import pool_state
from scan.extensions.markets import queries as pools
from scan.extensions.markets.candle_chart import candle_chart
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, FilteredList, entity_list, fields_of, filtered_list
from scan.pages.formatting import percent
from scan.pages.hooks import Pages, TokenTab
from scan.pages.records import address_of, names_of
from scan.queries.prices import unit_prices

FEE_PLACES = 2

blueprint = Blueprint("pages_pools", __name__)


@blueprint.get("/dex")
def list_pools() -> Response:
    shown = filtered_list(
        "/dex",
        "/pools",
        [field for field in fields_of("dex_trades") if field.key in ("dex", "tokenAddress")],
        lambda window, given: pools.page(reader(), window, **pools.read_filters(given)),
        paging=UNORDERED,
        is_by_size=True,
    )
    return shown.response("dex.html", shown=shown)


@blueprint.get("/pool/<address>")
def get_pool(address: str) -> Response:
    key = address_of(address)
    shown = entity_list(
        "dex_trades",
        f"/pool/{to_hex(key)}",
        f"/dex-trades?pool={to_hex(key)}",
        left_out=("tokenAddress", "dex"),
        more=("interval",),
        fixed={"pool": to_hex(key)},
    )
    interval = request.args.get("interval", "1h")
    interval = parameters.one_of(interval, "interval", pools.INTERVALS_S)
    pool = json.loads(pools.get(reader(), key))
    volume = json.loads(pools.volume(reader(), key))
    try:
        read = pools.candles(reader(), key, interval)
    except InvalidParameter:  # too many trades in the newest interval
        read = pools.Candles("[]", None)
    candles = json.loads(read.data)
    state = pool_state.get(reader(), key)
    priced = [candle for candle in candles if candle["open"] is not None]
    return shown.response(
        "pool.html",
        pool=pool,
        interval=interval,
        intervals=list(pools.INTERVALS_S),
        chart=candle_chart(priced, title="Price", span_s=pools.INTERVALS_S[interval]),
        candle_count=len(candles),
        has_older_candles=read.next_s is not None,
        volume=volume,
        state=state,
        price=None if state["price"] is None else Decimal(state["price"]),
        fee=None if state["fee"] is None else percent(state["fee"], 10**6, FEE_PLACES),
        prices=unit_prices(reader()),
        trades=shown,
        names=names_of([*shown.records, pool], pool["token0"], pool["token1"]),
    )


def _token_tab(key: bytes) -> tuple[FilteredList, dict[str, Any]]:
    """Return the pools of a token, by their trades."""
    own = to_hex(key)
    shown = filtered_list(
        f"/token/{own}",
        f"/pools?tokenAddress={own}",
        (),
        lambda window, _: pools.page(reader(), window, token=key),
        tab="pools",
        paging=UNORDERED,
        is_by_size=True,
    )
    return shown, {}


HOOKS = Pages(
    blueprints=(blueprint,),
    tabs=(
        TokenTab(
            "pools",
            "Pools",
            25,
            lambda token: token["type"] == "BEP20",
            template="token_pools.html",
            read=_token_tab,
        ),
    ),
    menu=(
        ("Main", "/dex", "DEX"),
        ("Home", "/dex", "DEX pools"),
        ("Tokens", "/dex", "DEX pools"),
    ),
)
