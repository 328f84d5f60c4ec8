"""Pools of exchanges: GET /api/v1/pools, /pools/:address, its /candles, /state and /volume; the
pages /dex, by number of trades, and /pool/:address with its candles,
whose chart the core's templates draw."""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson
from flask import Blueprint, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import InvalidParameter
from scan.extensions.markets import queries as pools
from scan.hex import data, to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_body, json_value
from scan.http.list_responses import LISTED, list_response
from scan.pages import hooks, records, svg_charts
from scan.pages.filtered_lists import UNORDERED, FilteredList, entity_list, fields_of, filtered_list
from scan.pages.formatting import percent, short_name, short_price
from scan.queries.holdings import UnitPrices, unit_prices

api_views = Blueprint("markets", __name__)


@api_views.get("/pools")
def list_pools() -> Response:
    arguments = query_arguments("dex", "tokenAddress", "orderBy", *LISTED)
    filters = pools.read_filters(arguments)
    return list_response("pools", arguments, lambda window: pools.page(reader(), window, **filters))


@api_views.get("/pools/<address>")
def get_pool(address: str) -> Response:
    query_arguments()
    return json_body(pools.get(reader(), parameters.pool(address)))


@api_views.get("/pools/<address>/candles")
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
    next_time = None if candles.next_s is None else parameters.moment(candles.next_s)
    ends = {"interval": interval, "nextTimeTo": next_time}
    return json_value({**ends, "candles": orjson.Fragment(candles.data)})


@api_views.get("/pools/<address>/state")
def get_state(address: str) -> Response:
    query_arguments()
    return json_value(pools.state(reader(), parameters.pool(address)))


@api_views.get("/pools/<address>/volume")
def get_volume(address: str) -> Response:
    query_arguments()
    return json_body(pools.volume(reader(), parameters.pool(address)))


ISO = "2026-01-31T23:59:59Z"
PRICES = ("open", "high", "low", "close")


def candle_chart(
    candles: Sequence[Mapping[str, Any]], *, title: str, span_s: int
) -> svg_charts.Chart | None:
    """Return a chart of the API's candles with prices, in order; intervals without one take no
    room."""
    if not candles or any(len(candle["time"]) != len(ISO) for candle in candles):
        return None  # Python's calendar ends with the year 9999
    prices = [[Decimal(candle[name]) for name in PRICES] for candle in candles]
    highest = max(high for _, high, _, _ in prices)
    axis = _ticks(min(low for _, _, low, _ in prices), highest)
    most, extent = axis[0], axis[0] - axis[-1]
    step = svg_charts.WIDTH / len(candles)
    width = svg_charts.pixel(step * svg_charts.BAR_SHARE)

    def y(price: Decimal) -> float:
        return float((most - price) / extent) * svg_charts.HEIGHT

    wicks, rising, falling = "", "", ""
    for index, (opened, high, low, closed) in enumerate(prices):
        left, top = index * step, y(max(opened, closed))
        height = svg_charts.pixel(max(1.0, y(min(opened, closed)) - top))
        body = f"M{svg_charts.pixel(left)} {svg_charts.pixel(top)}h{width}v{height}h-{width}z"
        rising, falling = (rising + body, falling) if closed >= opened else (rising, falling + body)
        middle = svg_charts.pixel(left + step * svg_charts.BAR_SHARE / 2)
        wicks += f"M{middle} {svg_charts.pixel(y(high))}V{svg_charts.pixel(y(low))}"
    moments = [int(datetime.fromisoformat(candle["time"]).timestamp()) for candle in candles]
    readings = []
    for time_s, values in zip(moments, prices, strict=True):
        pairs = zip(PRICES, map(short_price, values), strict=True)
        text = ", ".join(f"{name} {price}" for name, price in pairs)
        readings.append(svg_charts.Reading(svg_charts.reading_time(time_s, span_s), text))
    chosen = sorted({0, (len(moments) - 1) // 2, len(moments) - 1})
    times = [svg_charts.axis_time(moments[index], span_s) for index in chosen]
    chart = svg_charts.Chart(
        title, short_price(highest), [*map(short_price, axis)], times, readings
    )
    return chart._replace(candles=svg_charts.Candles(wicks, rising, falling))


def _ticks(least: Decimal, most: Decimal) -> list[Decimal]:
    """Return round prices from at least the highest down to at most the lowest, evenly spaced."""
    power = Decimal(1).scaleb((most - least or most or Decimal(1)).adjusted() - 1)
    whole = svg_charts.ticks_between(math.floor(least / power), math.ceil(most / power))
    return [number * power for number in whole]


FEE_PLACES = 2

page_views = Blueprint("pages_markets", __name__)


@page_views.get("/dex")
def show_pools() -> Response:
    pool_list = filtered_list(
        "/dex",
        "/pools",
        [field for field in fields_of("dex_trades") if field.key in ("dex", "tokenAddress")],
        lambda window, filters: pools.page(reader(), window, **pools.read_filters(filters)),
        paging=UNORDERED,
        is_by_size=True,
    )
    return pool_list.response("dex.html", shown=pool_list)


@page_views.get("/pool/<address>")
def show_pool(address: str) -> Response:
    key = records.address_of(address, parameters.pool)
    trade_list = entity_list(
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
    state = pools.state(reader(), key)
    priced = [candle for candle in candles if candle["open"] is not None]
    return trade_list.response(
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
        trades=trade_list,
        names=records.names_of([*trade_list.records, pool], pool["token0"], pool["token1"]),
    )


def _token_tab(key: bytes) -> tuple[FilteredList, dict[str, Any]]:
    """Return the pools of a token, by their trades."""
    token = to_hex(key)
    pool_list = filtered_list(
        f"/token/{token}",
        f"/pools?tokenAddress={token}",
        (),
        lambda window, _: pools.page(reader(), window, token=key),
        tab="pools",
        paging=UNORDERED,
        is_by_size=True,
    )
    return pool_list, {}


CHART_INTERVAL = "1h"


def _price_chart(token: records.Record, prices: UnitPrices | None) -> svg_charts.Chart | None:
    """Return the price of a token in the other one of the pool that makes its price; None without
    one."""
    by = prices and prices.pools.get(token["address"])
    if not by:
        return None
    pool = json.loads(pools.get(reader(), data(by.pool)))
    candles = json.loads(pools.candles(reader(), data(by.pool), CHART_INTERVAL).data)
    priced = [c for c in candles if c["open"] is not None and Decimal(c["low"])]
    other = "token1"
    if token["address"] == pool["token1"]:
        priced, other = [*map(_inverse, priced)], "token0"
    title = f"Price, {short_name(pool[f'{other}Symbol'] or 'the other token of its pool')}"
    span_s = pools.INTERVALS_S[CHART_INTERVAL]
    return candle_chart(priced, title=title, span_s=span_s)


def _inverse(candle: Mapping[str, Any]) -> dict[str, Any]:
    """Return a candle in units of the pool's other token: the highest price is its lowest."""
    opened, high, low, close = (1 / Decimal(candle[name]) for name in PRICES)
    return {"time": candle["time"], "open": opened, "high": low, "low": high, "close": close}


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(
        blueprints=(page_views,),
        sections=(hooks.TokenChart({}, _price_chart, place=10),),
        tabs=(
            hooks.TokenTab(
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
    ),
)
