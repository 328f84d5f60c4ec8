"""The geometry of charts, which templates draw as SVG, without scripts.

The axes are text beside the SVG, which is stretched to its width: ticks are evenly spaced, so that
no position has to be given in a style.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import NamedTuple

from scan.pages.formatting import amount, compact
from scan.parameters import LAST_TIME_S

WIDTH, HEIGHT = 640, 160
MAX_TICKS = 5  # above the lowest
# A line whose values differ by less than this part of the largest is drawn flat above zero.
LEAST_EXTENT = 1_000_000
BAR_SHARE = 0.8
WIDEST_BAR = 64  # in a chart with few bars
OUTSIDE = 9  # units beyond the edges, where the line goes down to the axis and is filled
DAY_S = 86_400
_LONG = re.compile(r"\.\d{2,}K\Z")  # a label that is no shorter than the number


class Point(NamedTuple):
    time_s: float
    value: int
    label: str = ""  # the formatted value


class Reading(NamedTuple):
    """A point in words."""

    time: str
    value: str


class Candles(NamedTuple):
    """The parts of candles, each as SVG's path."""

    wicks: str
    rising: str
    falling: str


class Chart(NamedTuple):
    """A chart with bars, with candles, or with a `line` in the format of SVG's polyline.

    `ticks` are the labels of the vertical axis from the top, `times` those of the horizontal one,
    both evenly spaced; `readings` belong to the bars, to the candles, or to the points of the line.
    """

    title: str
    most: str
    ticks: Sequence[str]
    times: Sequence[str]
    readings: Sequence[Reading]
    line: str = ""
    is_whole: bool = False  # the axis begins at zero, so that the area below the line is an amount
    bars: str = ""  # their middles, as SVG's path, to be drawn in `bar_width`
    bar_width: float = 0
    candles: Candles | None = None
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def first(self) -> str:
        return self.readings[0].time

    @property
    def last(self) -> str:
        return self.readings[-1].time


def spread_over_seconds(times_s: Sequence[int]) -> list[float]:
    """Return moments in order, where those that share a second are evenly apart, as many as the
    fullest second has. Of the first second only the last ones may be known."""
    blocks_of = Counter(times_s)
    most = max(blocks_of.values(), default=1)
    skipped = {time_s: most - blocks_of[time_s] for time_s in times_s[:1]}
    return [
        time_s + (place + skipped.get(time_s, 0)) / most
        for time_s, count in blocks_of.items()
        for place in range(count)
    ]


def bar_chart(
    points: Sequence[Point], *, title: str, span_s: int, decimals: int = 0
) -> Chart | None:
    """Return bars for equal spans of time, None where there are none, or datetime does not know
    the times; `decimals` are those of the values."""
    if not points or points[-1].time_s > LAST_TIME_S:
        return None
    ticks = _ticks(points, 0)
    step = WIDTH / len(points)
    width = min(step * BAR_SHARE, WIDEST_BAR)
    bars = "".join(
        f"M{pixel(index * step + width / 2)} {HEIGHT}V{pixel(_y(point.value, ticks))}"
        for index, point in enumerate(points)
    )
    moments = sorted({0, (len(points) - 1) // 2, len(points) - 1})
    times = [axis_time(points[index].time_s, span_s) for index in moments]
    chart = _chart(title, points, ticks, span_s, decimals, times)
    return chart._replace(bars=bars, bar_width=round(width, 1))


def line_chart(points: Sequence[Point], *, title: str, decimals: int = 0) -> Chart | None:
    """Return a line through points in order of time; None if there is nothing to draw, or datetime
    does not know the times.

    Its axis begins at zero, unless all values are above half of the largest.
    """
    if len(points) < 2 or points[0].time_s == points[-1].time_s or points[-1].time_s > LAST_TIME_S:
        return None
    start, length = points[0].time_s, points[-1].time_s - points[0].time_s
    least, most = (choose(point.value for point in points) for choose in (min, max))
    is_near = 2 * least > most and (most - least) * LEAST_EXTENT >= most
    ticks = _ticks(points, least if is_near else 0)
    coordinates = [
        ((point.time_s - start) / length * WIDTH, _y(point.value, ticks)) for point in points
    ]
    left, right, below = -OUTSIDE, WIDTH + OUTSIDE, HEIGHT + OUTSIDE
    corners = [(left, below), (left, coordinates[0][1])]
    corners_after = [(right, coordinates[-1][1]), (right, below)]
    line = " ".join(f"{pixel(x)},{pixel(y)}" for x, y in (*corners, *coordinates, *corners_after))
    span_s = DAY_S if length > 3 * DAY_S else 60
    times = [axis_time(start + length * part / 2, span_s) for part in range(3)]
    # Points within a day are labelled with their time.
    are_days = all(point.time_s % DAY_S == 0 for point in points)
    chart = _chart(title, points, ticks, DAY_S if are_days else 60, decimals, times)
    return chart._replace(line=line, is_whole=ticks[-1] == 0)


def _chart(
    title: str,
    points: Sequence[Point],
    ticks: Sequence[int],
    span_s: int,
    decimals: int,
    times: Sequence[str],
) -> Chart:
    most = max(points, key=lambda point: point.value)
    texts = {point: point.label or amount(point.value, decimals) for point in points}
    readings = [Reading(reading_time(point.time_s, span_s), texts[point]) for point in points]
    # The labels of the axis have as many decimals as tell them apart; thousands are written out
    # where that is no longer: 9,705 instead of 9.705K.
    axes = ([compact(value, decimals, places) for value in ticks] for places in count(3))
    labels = next(labels for labels in axes if len(set(labels)) == len(labels))
    if ticks[0] < 10 ** (decimals + 6) and any(_LONG.search(label) for label in labels):
        labels = [amount(value, decimals) for value in ticks]
    return Chart(title, texts[most], labels, times, readings)


def ticks_between(least: int, most: int) -> Sequence[int]:
    """Return round values from at least the highest down to at most the lowest, evenly spaced."""
    steps = (factor * 10**power for power in count() for factor in (1, 2, 5))
    step = next(step for step in steps if -(-most // step) - least // step <= MAX_TICKS)
    first, last = least // step * step, -(-most // step) * step
    if first == last:  # one value, in the middle
        first, last = first - step, last + step
    return range(last, first - 1, -step)


def _ticks(points: Sequence[Point], least: int) -> Sequence[int]:
    most = max(point.value for point in points)
    return ticks_between(least, most) if most > 0 else [1, 0]


def _y(value: int, ticks: Sequence[int]) -> float:
    """Return a value's distance from the chart's top."""
    return HEIGHT * (ticks[0] - max(value, ticks[-1])) / (ticks[0] - ticks[-1])


def pixel(value: float) -> str:
    """Return a coordinate with at most one decimal: a chart is drawn on about as many pixels."""
    return f"{round(value, 1):g}"


def reading_time(time_s: float, span_s: int) -> str:
    shape = "%Y-%m-%d" if span_s >= DAY_S else "%Y-%m-%d %H:%M UTC"
    return datetime.fromtimestamp(time_s, UTC).strftime(shape)


def axis_time(time_s: float, span_s: int) -> str:
    shape = "%Y-%m-%d" if span_s >= DAY_S else "%m-%d %H:%M"
    return datetime.fromtimestamp(time_s, UTC).strftime(shape)
