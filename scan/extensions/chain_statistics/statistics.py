"""Statistics of each day (UTC), counted as blocks are written: activity over time, the contracts
that were called most, and the largest transfers of coin or of a token, of a day or among the
newest.
"""

import json
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, NamedTuple

import orjson
from flask import request

from scan import parameters
from scan.errors import InvalidParameter
from scan.http.current_request import reader
from scan.queries import blocks
from scan.queries.list_pages import Window, in_kept_blocks
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
        message = f"from and to must be in their order and at most {MAX_DAYS} days."
        raise InvalidParameter(message, field="from")
    return DailyStats(first_text, last_text, data)


def activity_over_time(
    reader: Reader,
    span: str,
    first: date | None = None,
    last: date | None = None,
    most: int = MAX_SPANS,
) -> list[dict[str, Any]]:
    """Return the statistics of the newest `most` days, weeks, months or years that have blocks,
    oldest first; see the statement."""
    (rows,) = reader.row(
        "queries/daily_stats_list_by_span", span=span, date_from=first, date_to=last, limit=most
    )
    records: list[dict[str, Any]] = orjson.loads(rows)
    return records


MOST_WEEKS = 156  # of a chart; a longer time is drawn by month


def whole_time(reader: Reader) -> tuple[str, list[dict[str, Any]]]:
    """Return "week" or "month", and the statistics of all that have blocks, oldest first."""
    weeks = activity_over_time(reader, "week", most=MOST_WEEKS)
    if len(weeks) < MOST_WEEKS:
        return "week", weeks
    return "month", activity_over_time(reader, "month")


def activity(reader: Reader, span_s: int, spans: int) -> str:
    """Return [{start, blocks, transactions, gasUsed, sampled}] for spans of time, as JSON text."""
    rows: str
    (rows,) = reader.row("queries/activity_list", span_s=span_s, spans=spans)
    return rows


CONTRACTS = 25  # those that used most gas
MAX_TRANSACTIONS = 50_000  # counted for a request
MAX_SAMPLE = 50_000  # searched of a day: the newest, and by an index all large ones of coin


class CountedBounds:
    """The bounds of one request."""

    transactions, sample = MAX_TRANSACTIONS, MAX_SAMPLE


DAY_S = 86_400
SPANS_S = (DAY_S, 3_600, 300)
COUNTED_FOR_S = 60

Record = dict[str, Any]


class Order(NamedTuple):
    by_gas: bool  # or by the number of transactions
    is_ascending: bool = False


def contracts(
    reader: Reader, span_s: int, order: Order, after: tuple[int, bytes] | None, limit: int
) -> list[Record]:
    """Return {address, transactions, gasUsed} of contracts, after the number and address of one.
    Raises InvalidParameter for a span with more transactions than are counted."""
    newest_s = _newest_s(reader)
    if newest_s is None:
        return []
    window = in_kept_blocks(reader, Window(limit, 0, time_from=max(0, newest_s - span_s)))
    sign = -1 if order.is_ascending else 1
    number, address = (None, None) if after is None else (sign * after[0], after[1])
    is_longer, rows = reader.row(
        "queries/contracts_list_most_called",
        block_from=window.block_from,
        block_to=window.block_to,
        most=reader.sources.get(CountedBounds).transactions,
        by_gas=order.by_gas,
        sign=sign,
        after=number,
        after_address=address,
        limit=limit,
    )
    if is_longer:
        raise InvalidParameter(
            f"This time has more than {MAX_TRANSACTIONS} transactions, which are not counted at"
            " once: ask for a shorter one.",
            field="scale",
        )
    records: list[Record] = orjson.loads(rows)
    return records


def largest_by_gas(reader: Reader, limit: int) -> tuple[int, list[Record]]:
    """Return contracts by the gas of the transactions that called them, the largest first, in the
    longest of SPANS_S up to the newest block whose transactions are counted, with its seconds."""
    for span_s in SPANS_S:
        with suppress(InvalidParameter):
            return span_s, contracts(reader, span_s, Order(by_gas=True), None, limit)
    return SPANS_S[-1], []


class LargestByGas:
    """What largest_by_gas() returned, which reads up to MAX_TRANSACTIONS rows, and is read again
    once the newest block is COUNTED_FOR_S later."""

    def __init__(self) -> None:
        self._counted: tuple[int, tuple[int, list[Record]]] | None = None

    def read(self, reader: Reader) -> tuple[int, list[Record]]:
        newest_s = _newest_s(reader) or 0
        counted = self._counted
        if counted is None or not 0 <= newest_s - counted[0] < COUNTED_FOR_S:
            self._counted = counted = newest_s, largest_by_gas(reader, CONTRACTS)
        return counted[1]


def _newest_s(reader: Reader) -> int | None:
    """Return the time of the newest block in Unix seconds; None without blocks."""
    for block in orjson.loads(blocks.page(reader, Window(1, 0)).data):
        return parameters.unix_seconds(block["timestamp"])
    return None


LARGEST = 10
NEWEST_OF_TOKEN = 2_000  # searched without a day


class Largest(NamedTuple):
    """`data` is a JSON array as text, of transactions or of token transfers, largest first."""

    data: str
    sample: int  # how many were searched, the newest
    first_block: int | None  # of the sample
    total: int | None = None  # how many the day has; None without a day


def largest_transactions(reader: Reader, day: date | None = None) -> Largest:
    """Return the largest transactions of a day, or without a day the largest of the newest."""
    if day is None:
        return Largest(*reader.row("queries/transactions_list_largest_of_newest", limit=LARGEST))
    first, last = _blocks(reader, day)
    return Largest(
        *reader.row(
            "queries/transactions_list_largest_in_blocks",
            block_from=first,
            block_to=last,
            limit=LARGEST,
            most=reader.sources.get(CountedBounds).sample,
        )
    )


def largest_token_transfers(reader: Reader, token: bytes, day: date | None = None) -> Largest:
    """Return a token's largest transfers of a day, or without a day the largest of the newest."""
    first, last = _blocks(reader, day, token)
    data, sample, first_block, total = reader.row(
        "queries/token_transfers_list_largest",
        token=token,
        block_from=first,
        block_to=last,
        limit=LARGEST,
        most=NEWEST_OF_TOKEN if day is None else reader.sources.get(CountedBounds).sample,
    )
    return Largest(data, sample, first_block, None if day is None else total)


def _blocks(reader: Reader, day: date | None, *tokens: bytes) -> tuple[int, int]:
    """Return the first and the last block of the day (UTC), or of all whose rows are kept, or those
    of a token; the last is before the first where there are none."""
    if day is None:
        return in_kept_blocks(reader, Window(1, 0), *tokens)[3:5]
    first_s = parameters.unix_seconds(f"{day}T00:00:00Z")
    window = Window(1, 0, time_from=max(0, first_s), time_to=first_s + DAY_S - 1)
    window = in_kept_blocks(reader, window, *tokens)
    return window.block_from, window.block_to


FIRST_DAY = date(1970, 1, 1)
ONE_DAY = timedelta(days=1)


class DayShown(NamedTuple):
    """A day with its largest transfers; the days before and after it are None where no page can
    have any."""

    day: date
    before: date | None
    after: date | None
    sample: int
    total: int
    records: list[dict[str, Any]]


def shown_day(newest: str | None, token: bytes | None = None) -> DayShown | None:
    """Return the largest transfers of the requested day, or of the newest; None where that is no
    day of Python's calendar."""
    day = parameters.optional_date(request.args, "date")
    last = None
    with suppress(TypeError, ValueError):
        last = date.fromisoformat(newest)  # type: ignore[arg-type]
    day = day or last
    if day is None:
        return None
    if token is None:
        largest = largest_transactions(reader(), day)
    else:
        largest = largest_token_transfers(reader(), token, day)
    before = day - ONE_DAY if day > FIRST_DAY else None
    after = day + ONE_DAY if last is not None and day < last else None
    records = json.loads(largest.data)
    return DayShown(day, before, after, largest.sample, largest.total or 0, records)
