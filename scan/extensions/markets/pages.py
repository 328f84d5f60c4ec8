"""The geometry of a chart of candles, which the core's templates draw.

/dex, the pools by number of trades; /pool/:address with its candles.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.markets import pool_state
from scan.extensions.markets import queries as pools
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages import svg_charts
from scan.pages.filtered_lists import UNORDERED, FilteredList, entity_list, fields_of, filtered_list
from scan.pages.formatting import percent, short_price
from scan.pages.hooks import Pages, TokenTab
from scan.pages.records import address_of, names_of
from scan.queries.holdings import unit_prices

ISO = "2026-01-31T23:59:59Z"
MOST_STEPS = 5
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
    for number, (opened, high, low, closed) in enumerate(prices):
        left, top = number * step, y(max(opened, closed))
        height = svg_charts.pixel(max(1.0, y(min(opened, closed)) - top))
        body = f"M{svg_charts.pixel(left)} {svg_charts.pixel(top)}h{width}v{height}h-{width}z"
        rising, falling = (rising + body, falling) if closed >= opened else (rising, falling + body)
        middle = svg_charts.pixel(left + step * svg_charts.BAR_SHARE / 2)
        wicks += f"M{middle} {svg_charts.pixel(y(high))}V{svg_charts.pixel(y(low))}"
    moments = [int(datetime.fromisoformat(candle["time"]).timestamp()) for candle in candles]
    readings = [
        svg_charts.Reading(
            svg_charts.reading_time(time_s, span_s),
            ", ".join(f"{name} {short_price(p)}" for name, p in zip(PRICES, values, strict=True)),
        )
        for time_s, values in zip(moments, prices, strict=True)
    ]
    chosen = sorted({0, (len(moments) - 1) // 2, len(moments) - 1})
    times = [svg_charts.axis_time(moments[number], span_s) for number in chosen]
    chart = svg_charts.Chart(
        title, short_price(highest), [*map(short_price, axis)], times, readings
    )
    return chart._replace(candles=svg_charts.Candles(wicks, rising, falling))


def _ticks(least: Decimal, most: Decimal) -> list[Decimal]:
    """Return round prices from at least the highest down to at most the lowest, evenly spaced."""
    power = Decimal(1).scaleb((most - least or most or Decimal(1)).adjusted() - 1)
    steps = (factor * power * 10**places for places in range(3) for factor in (1, 2, 5))
    for step in steps:
        first, last = math.floor(least / step), math.ceil(most / step)
        if last - first <= MOST_STEPS:
            break
    if first == last:  # one price, in the middle
        first, last = first - 1, last + 1
    return [number * step for number in range(last, first - 1, -1)]


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
    key = address_of(address, parameters.pool)
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
    token = to_hex(key)
    shown = filtered_list(
        f"/token/{token}",
        f"/pools?tokenAddress={token}",
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
    menu=(("Main", "/dex", "DEX"), ("Home", "/dex", "DEX pools"), ("Tokens", "/dex", "DEX pools")),
)
