"""The largest transfers of coin or of a token, of a day or among the newest."""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from scan.queries.pages import Window, in_kept_blocks
from scan.queries.reader import Reader

LARGEST = 10
NEWEST_OF_TOKEN = 2_000  # searched without a day
MAX_SAMPLE = 50_000  # searched of a day: the newest, and by an index all large ones of coin


class Largest(NamedTuple):
    """`data` is a JSON array as text, of transactions or of token transfers, largest first."""

    data: str
    sample: int  # how many were searched, the newest
    first_block: int | None  # of the sample
    total: int | None = None  # how many the day has; None without a day


def of_coin(reader: Reader, day: date | None = None) -> Largest:
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
            most=MAX_SAMPLE,
        )
    )


def of_token(reader: Reader, token: bytes, day: date | None = None) -> Largest:
    """Return a token's largest transfers of a day, or without a day the largest of the newest."""
    first, last = _blocks(reader, day)
    data, sample, first_block, total = reader.row(
        "queries/token_transfers_list_largest",
        token=token,
        block_from=first,
        block_to=last,
        limit=LARGEST,
        most=NEWEST_OF_TOKEN if day is None else MAX_SAMPLE,
    )
    return Largest(data, sample, first_block, None if day is None else total)


def _blocks(reader: Reader, day: date | None) -> tuple[int, int]:
    """Return the first and the last block of the day (UTC), or of all whose rows are kept; the last
    is before the first where there are none."""
    if day is None:
        return in_kept_blocks(reader, Window(1, 0))[3:5]
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    first_s = int(start.timestamp())
    last_s = first_s + int(timedelta(days=1).total_seconds()) - 1
    window = in_kept_blocks(reader, Window(1, 0, time_from=max(0, first_s), time_to=last_s))
    return window.block_from, window.block_to
