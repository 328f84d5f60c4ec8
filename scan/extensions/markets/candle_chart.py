"""The geometry of a chart of candles, which the core's templates draw."""

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
PRICES = ("open", "high", "low", "close")


def candle_chart(candles: Sequence[Mapping[str, Any]], *, title: str, span_s: int) -> Chart | None:
    """Return a chart of the API's candles with prices, in order; intervals without one take no
    room."""
    if not candles or any(len(candle["time"]) != len(ISO) for candle in candles):
        return None  # Python's calendar ends with the year 9999
    prices = [[Decimal(candle[name]) for name in PRICES] for candle in candles]
    least, most = min(low for _, _, low, _ in prices), max(high for _, high, _, _ in prices)
    extent = most - least or most
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
    ticks = [short_price(most - extent * part / 4) for part in range(5)]
    chart = Chart(title, short_price(most), ticks, times, readings)
    return chart._replace(candles=Candles(wicks, rising, falling))
