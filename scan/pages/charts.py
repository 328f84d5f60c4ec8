"""The geometry of charts, which templates draw as SVG: no script, and colours from the page."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

WIDTH, HEIGHT = 640, 120
DAY_S = 86_400


class Point(NamedTuple):
    time_s: int
    value: int
    label: str = ""  # of the value, as people read it


class Bar(NamedTuple):
    """In the chart's units; `title` says what it stands for."""

    left: float
    top: float
    width: float
    height: float
    title: str


class Chart(NamedTuple):
    """`line` is where its points lie, as SVG's polyline takes them; a chart has bars or a line."""

    title: str
    bars: Sequence[Bar]
    line: str
    most: str
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT


def bar_chart(points: Sequence[Point], *, title: str, span_s: int) -> Chart | None:
    """Bars of equal spans of time."""
    if not points:
        return None
    most = max(point.value for point in points)
    step = WIDTH / len(points)
    bars = [
        Bar(
            round(number * step, 1),
            round(_y(point.value, most), 1),
            round(step * 0.8, 1),
            round(HEIGHT - _y(point.value, most), 1),
            f"{_when(point.time_s, span_s)}: {_label(point)}",
        )
        for number, point in enumerate(points)
    ]
    return _chart(title, points, span_s, bars=bars)


def line_chart(points: Sequence[Point], *, title: str) -> Chart | None:
    """A line through points in order of time; None where there is nothing to draw."""
    if len(points) < 2 or points[0].time_s == points[-1].time_s:
        return None
    start, length = points[0].time_s, points[-1].time_s - points[0].time_s
    most = max(point.value for point in points)
    places = [
        f"{(point.time_s - start) / length * WIDTH:.1f},{_y(point.value, most):.1f}"
        for point in points
    ]
    return _chart(title, points, DAY_S if length > 3 * DAY_S else 60, line=" ".join(places))


def _chart(
    title: str,
    points: Sequence[Point],
    span_s: int,
    *,
    bars: Sequence[Bar] = (),
    line: str = "",
) -> Chart:
    most = max(points, key=lambda point: point.value)
    first, last = (_when(point.time_s, span_s) for point in (points[0], points[-1]))
    return Chart(title, bars, line, _label(most), first, last)


def _label(point: Point) -> str:
    return point.label or f"{point.value:,}"


def _y(value: int, most: int) -> float:
    """From above, with a little room for the line at its highest."""
    return HEIGHT - ((HEIGHT - 4) * value / most if most else 0)


def _when(time_s: int, span_s: int) -> str:
    shape = "%Y-%m-%d" if span_s >= DAY_S else "%m-%d %H:%M UTC"
    return datetime.fromtimestamp(time_s, UTC).strftime(shape)
