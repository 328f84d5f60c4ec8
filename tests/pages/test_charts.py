"""Charts: their axes, and a reading for each point."""

import pytest

from scan.pages.svg_charts import HEIGHT, Point, bar_chart, line_chart, spread_over_seconds

pytestmark = pytest.mark.check


def tops(chart):
    """Where bars end; all of them begin at the axis."""
    bars = [bar.split() for bar in chart.bars.split("M")[1:]]
    assert all(rest.startswith(f"{HEIGHT}V") for _, rest in bars)
    return [float(rest.partition("V")[2]) for _, rest in bars]


def values(*numbers):
    return [Point(1_700_000_000 + 3600 * index, value) for index, value in enumerate(numbers)]


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0, ["1", "0"]),
        (40_938_328, ["50M", "40M", "30M", "20M", "10M", "0"]),
        (2**256, ["1.5·10⁷⁷", "1·10⁷⁷", "5·10⁷⁶", "0"]),
    ],
)
def test_axes_begin_at_zero_and_reach_the_highest_value(most, ticks):
    chart = bar_chart(values(0, most), title="Counts", span_s=3600)
    assert chart.ticks == ticks
    nothing, highest = tops(chart)
    assert nothing == HEIGHT and 0 <= highest <= HEIGHT / 2 + HEIGHT * (not most)


def test_bars_and_readings_belong_together():
    chart = bar_chart(values(5, 10, 0, 20), title="Counts", span_s=3600)
    assert tops(chart) == [HEIGHT * 3 / 4, HEIGHT / 2, HEIGHT, 0]
    assert [reading.value for reading in chart.readings] == ["5", "10", "0", "20"]
    assert chart.readings[0].time == "2023-11-14 22:13 UTC"
    assert bar_chart([], title="Counts", span_s=3600) is None


CUT, WHOLE = (0.4, 1), (0, 0.6)  # the share of its height that a line on such an axis uses


@pytest.mark.parametrize(
    ("numbers", "decimals", "ticks", "shares"),
    [
        ((991, 1000, 995), 1, ["100", "99.8", "99.6", "99.4", "99.2", "99"], CUT),
        ((50, 100), 0, ["100", "80", "60", "40", "20", "0"], WHOLE),  # the lower half is in use
        ((7, 7, 7), 0, ["8", "6", "4", "2", "0"], WHOLE),  # nothing to see but the amount
    ],
)
def test_a_line_uses_its_height_and_a_flat_one_stays_flat(numbers, decimals, ticks, shares):
    chart = line_chart(values(*numbers), title="Balance", decimals=decimals)
    assert chart is not None and chart.ticks == ticks
    assert chart.is_whole is (ticks[-1] == "0")  # the area below a cut axis says nothing
    heights = [float(point.split(",")[1]) for point in chart.line.split()[2:-2]]
    assert all(0 <= height <= HEIGHT for height in heights)
    used = (max(heights) - min(heights)) / HEIGHT
    assert shares[0] <= used <= shares[1]


def test_moments_that_share_a_second_are_evenly_apart():
    """Of the first second its last ones are known, of the last one its first ones."""
    assert spread_over_seconds([]) == []
    assert spread_over_seconds([3, 5, 17]) == [3, 5, 17]
    assert spread_over_seconds([3, 4, 4, 4, 4, 5, 5]) == [3.75, 4, 4.25, 4.5, 4.75, 5, 5.25]
