"""The geometry of charts, which templates draw as SVG, without scripts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

WIDTH, HEIGHT = 640, 120
DAY_S = 86_400


class Point(NamedTuple):
    time_s: int
    value: int
    label: str = ""  # the formatted value


class Bar(NamedTuple):
    """In the chart's units; `title` is its time and value."""

    left: float
    top: float
    width: float
    height: float
    title: str


class Chart(NamedTuple):
    """A chart with bars, or with a `line` in the format of SVG's polyline."""

    title: str
    bars: Sequence[Bar]
    line: str
    most: str
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT


def bar_chart(points: Sequence[Point], *, title: str, span_s: int) -> Chart | None:
    """Bars for equal spans of time."""
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
    """A line through points in order of time; None if there is nothing to draw."""
    if len(points) < 2 or points[0].time_s == points[-1].time_s:
        return None
    start, length = points[0].time_s, points[-1].time_s - points[0].time_s
    most = max(point.value for point in points)
    coordinates = [
        f"{(point.time_s - start) / length * WIDTH:.1f},{_y(point.value, most):.1f}"
        for point in points
    ]
    return _chart(title, points, DAY_S if length > 3 * DAY_S else 60, line=" ".join(coordinates))


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
    """The distance from the top, with a margin above the highest point."""
    return HEIGHT - ((HEIGHT - 4) * value / most if most else 0)


def _when(time_s: int, span_s: int) -> str:
    shape = "%Y-%m-%d" if span_s >= DAY_S else "%m-%d %H:%M UTC"
    return datetime.fromtimestamp(time_s, UTC).strftime(shape)
