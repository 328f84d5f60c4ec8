"""Values that are read from time to time."""

import pytest

from scan.cached_values import TimedValue

pytestmark = pytest.mark.check


@pytest.fixture
def clock(monkeypatch):
    seconds = [1000.0]
    monkeypatch.setattr("scan.cached_values.time.monotonic", lambda: seconds[0])
    return seconds


def test_a_value_is_read_again_once_it_is_old(clock):
    values = iter("ab")
    value = TimedValue(lambda: next(values), 5.0)
    assert value.known is None
    assert value.get() == "a"
    clock[0] += 4.9
    assert value.get() == "a"
    clock[0] += 0.1
    assert value.known == "a"
    assert value.get() == "b" == value.known


def test_a_failed_reading_keeps_nothing_for_later(clock):
    """Otherwise all would get an old value, or none, until the next reading is due."""
    readings = iter((OSError("gone"), OSError("gone"), "a", OSError("gone"), "b"))

    def read():
        if isinstance(reading := next(readings), OSError):
            raise reading
        return reading

    value = TimedValue(read, 5.0)
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            value.get()
    assert value.get() == "a"
    clock[0] += 5.0
    with pytest.raises(OSError, match="gone"):
        value.get()
    assert value.known == "a"
    assert value.get() == "b"
