"""The geometry of a chart of candles, which the core's templates draw."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from scan.pages.formatting import short_price
from scan.pages.svg_charts import (
    BAR_SHARE,
    HEIGHT,
    WIDTH,
    Candles,
    Chart,
    Reading,
    axis_time,
    pixel,
    reading_time,
)

ISO = "2026-01-31T23:59:59Z"
MOST_STEPS = 5
PRICES = ("open", "high", "low", "close")


def candle_chart(candles: Sequence[Mapping[str, Any]], *, title: str, span_s: int) -> Chart | None:
    """Return a chart of the API's candles with prices, in order; intervals without one take no
    room."""
    if not candles or any(len(candle["time"]) != len(ISO) for candle in candles):
        return None  # Python's calendar ends with the year 9999
    prices = [[Decimal(candle[name]) for name in PRICES] for candle in candles]
    highest = max(high for _, high, _, _ in prices)
    axis = _ticks(min(low for _, _, low, _ in prices), highest)
    most, extent = axis[0], axis[0] - axis[-1]
    step = WIDTH / len(candles)
    width = pixel(step * BAR_SHARE)

    def y(price: Decimal) -> float:
        return float((most - price) / extent) * HEIGHT

    wicks, rising, falling = "", "", ""
    for number, (opened, high, low, closed) in enumerate(prices):
        left, top = number * step, y(max(opened, closed))
        height = pixel(max(1.0, y(min(opened, closed)) - top))
        body = f"M{pixel(left)} {pixel(top)}h{width}v{height}h-{width}z"
        rising, falling = (rising + body, falling) if closed >= opened else (rising, falling + body)
        wicks += f"M{pixel(left + step * BAR_SHARE / 2)} {pixel(y(high))}V{pixel(y(low))}"
    moments = [int(datetime.fromisoformat(candle["time"]).timestamp()) for candle in candles]
    readings = [
        Reading(
            reading_time(time_s, span_s),
            ", ".join(f"{name} {short_price(p)}" for name, p in zip(PRICES, values, strict=True)),
        )
        for time_s, values in zip(moments, prices, strict=True)
    ]
    chosen = sorted({0, (len(moments) - 1) // 2, len(moments) - 1})
    times = [axis_time(moments[number], span_s) for number in chosen]
    chart = Chart(title, short_price(highest), [*map(short_price, axis)], times, readings)
    return chart._replace(candles=Candles(wicks, rising, falling))


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
