"""What happened on each day (UTC), counted as blocks are written."""

from datetime import date
from typing import NamedTuple

from scan.errors import InvalidParameter
from scan.queries.reader import Reader

DEFAULT_DAYS = 30
MAX_DAYS = 366


class DailyStats(NamedTuple):
    """`data` is a JSON array as text; the dates are None before the first block. `complete`: no day
    of it is still to be counted (by `scan backfill daily`)."""

    first: str | None
    last: str | None
    data: str
    complete: bool


def days(
    reader: Reader, first: date | None = None, last: date | None = None, length: int = DEFAULT_DAYS
) -> DailyStats:
    """Of `length` days where there is no first date. Raises InvalidParameter for a range that is
    too long or backwards."""
    first_text, last_text, length, data, complete = reader.row(
        "queries/daily_stats_list",
        date_from=first,
        date_to=last,
        default_days=length,
        max_days=MAX_DAYS,
    )
    if length is not None and not 1 <= length <= MAX_DAYS:
        raise InvalidParameter(
            f"from and to must be in their order and at most {MAX_DAYS} days.", field="from"
        )
    return DailyStats(first_text, last_text, data, complete)
