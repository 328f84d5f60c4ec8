"""The retry schedule that docs/webhooks.md tells."""

from datetime import UTC, datetime

import pytest

from scan.deadlines import retry_after_s
from scan.webhooks.queues import RETRY_STEPS_S, retry_delay_s

pytestmark = pytest.mark.check


def test_seven_retries_each_within_a_fifth_of_its_step():
    assert RETRY_STEPS_S == (5, 300, 1800, 7200, 18000, 36000, 36000)
    for failures, step_s in enumerate(RETRY_STEPS_S, start=1):
        for drawn, share in ((0.0, 0.8), (1.0, 1.2)):
            delay_s = retry_delay_s(RETRY_STEPS_S, failures, None, drawn)
            assert delay_s == pytest.approx(share * step_s)
    assert retry_delay_s(RETRY_STEPS_S, 8, None, 0.5) is None


@pytest.mark.parametrize(("after_s", "delay_s"), [(0, 5), (3, 5), (8, 8), (10, 10), (3600, 10)])
def test_retry_after_is_honoured_within_twice_the_step(after_s, delay_s):
    assert retry_delay_s(RETRY_STEPS_S, 1, after_s, 0.5) == pytest.approx(delay_s)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("120", 120),
        ("Mon, 01 Jan 2024 00:01:00 GMT", 60),
        ("Sun, 31 Dec 2023 00:00:00 GMT", 0),
        ("9" * 400, None),
        (f"Mon, 01 Jan 2024 00:01:00 +{'9' * 20}", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, seconds):
    assert retry_after_s(header, datetime(2024, 1, 1, tzinfo=UTC)) == seconds
