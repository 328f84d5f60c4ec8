"""Statistics of each day (UTC), counted as blocks are written, and activity over time."""

from datetime import date
from typing import Any, NamedTuple

import orjson

from scan.errors import InvalidParameter
from scan.queries.reader import Reader

DEFAULT_DAYS = 30
MAX_DAYS = 366
MAX_SPANS = 10_000  # days, weeks, months or years of a line


class DailyStats(NamedTuple):
    """The days of a range as a JSON array; the dates are None before the first block."""

    first: str | None
    last: str | None
    data: str


def days(
    reader: Reader, first: date | None = None, last: date | None = None, length: int = DEFAULT_DAYS
) -> DailyStats:
    """Return the days of a range, which has `length` days without a first date. Raises
    InvalidParameter for a range that is too long or backwards."""
    first_text, last_text, length, data = reader.row(
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
    return DailyStats(first_text, last_text, data)


def by_span(
    reader: Reader,
    span: str,
    first: date | None = None,
    last: date | None = None,
    most: int = MAX_SPANS,
) -> list[dict[str, Any]]:
    """Return the statistics of the newest `most` days, weeks, months or years that have blocks,
    oldest first; see the statement."""
    (rows,) = reader.row(
        "queries/daily_stats_list_by_span",
        span=span,
        date_from=first,
        date_to=last,
        limit=most,
    )
    records: list[dict[str, Any]] = orjson.loads(rows)
    return records


def activity(reader: Reader, span_s: int, spans: int) -> str:
    """Return [{start, blocks, transactions, gasUsed, sampled}] for spans of time, as JSON text."""
    rows: str
    (rows,) = reader.row("queries/activity_list", span_s=span_s, spans=spans)
    return rows
