"""Charts of candles."""

import re

import pytest

from scan.extensions.markets.views import candle_chart

pytestmark = pytest.mark.check


def test_candles_rise_and_fall_between_their_wicks():
    names = ("open", "high", "low", "close")
    candles = [
        {"time": f"2026-01-0{day}T00:00:00Z", **dict(zip(names, prices, strict=True))}
        for day, prices in ((1, ("10", "20", "10", "15")), (2, ("15", "15", "12.5", "12.5")))
    ]
    chart = candle_chart(candles, title="Price", span_s=86_400)
    assert chart is not None and chart.candles is not None
    assert chart.candles.wicks == "M128 0V160M448 80V120"
    assert chart.candles.rising == "M0 80h256v80h-256z"
    assert chart.candles.falling == "M320 80h256v40h-256z"
    assert chart.readings[1] == ("2026-01-02", "open 15, high 15, low 12.5, close 12.5")

    assert chart.ticks == ["20", "18", "16", "14", "12", "10"]
    odd = [{**candles[0], "high": "3572.97", "low": "3133.74"}]
    axis = candle_chart(odd, title="Price", span_s=86_400)
    assert axis is not None and axis.ticks == ["3,600", "3,500", "3,400", "3,300", "3,200", "3,100"]


def test_candles_of_any_size_are_drawn():
    """Also of one price alone, and of tokens that say they have 255 decimals."""
    candles = [
        {"time": f"2026-01-0{n}T00:00:00Z"} | dict.fromkeys(("open", "high", "low", "close"), price)
        for n, price in enumerate(("1" + 332 * "0", "0." + 330 * "0" + "12", "5"), start=1)
    ]
    chart = candle_chart(candles, title="Price", span_s=86_400)
    assert chart is not None and chart.candles is not None
    bodies = re.findall(r"M\S+ (\S+?)h\S+?v(\S+?)h", chart.candles.rising)
    assert len(bodies) == 3 and not chart.candles.falling
    assert all(0 <= float(top) <= 160 and float(height) >= 1 for top, height in bodies)
    alone = candle_chart(candles[:1], title="Price", span_s=86_400)
    assert alone is not None and alone.candles is not None
    assert alone.candles.rising.startswith("M0 80h")
    beyond = [{**candles[0], "time": "12026-01-01T00:00:00Z"}]
    assert candle_chart(beyond, title="Price", span_s=86_400) is None
