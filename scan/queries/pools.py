"""Pools of exchanges, by how much is traded in them; one with its candles."""

import json
from datetime import datetime
from typing import NamedTuple

from scan.errors import InvalidParameter, NotFound
from scan.queries.cursors import ADDRESS, ORDINAL
from scan.queries.pages import Page, Window, in_blocks
from scan.queries.reader import Reader

INTERVALS_S = {"5m": 300, "1h": 3_600, "1d": 86_400}
MAX_CANDLES = 500
DEFAULT_CANDLES = 100
MAX_TRADES = 20_000


class Candles(NamedTuple):
    """`data` is a JSON array as text, of spans between two times, both in Unix seconds."""

    interval: str
    first_s: int
    last_s: int
    data: str


def page(
    reader: Reader, window: Window, *, dex: str | None = None, token: bytes | None = None
) -> Page:
    """By the number of trades; of an exchange, or with a token on either side."""
    filters = {"dex": dex, "token": token}
    traversal = window.traversal("pools", filters, (ORDINAL, ADDRESS), has_blocks=False)
    after_count, after_address = traversal.position(2)
    data, count, total, trade_count, address = reader.row(
        "queries/pools_list",
        planned_per_call=True,
        dex=dex,
        token=token,
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
        after_count=after_count,
        after_address=after_address,
    )
    following = traversal.next(None if address is None else (trade_count, bytes(address)))
    return Page(data, count, total, following)


def get(reader: Reader, address: bytes) -> str:
    """JSON as text; raises NotFound."""
    record: str | None
    (record,) = reader.row("queries/pools_get", address=address)
    if record is None:
        raise NotFound("No pool is indexed at this address.")
    return record


def candles(
    reader: Reader,
    address: bytes,
    interval: str,
    first_s: int | None = None,
    last_s: int | None = None,
) -> Candles:
    """Up to its newest trade where no end is given; raises NotFound, and InvalidParameter for a
    range of too many candles or trades. Where neither end is given, it is as long as it may be."""
    span_s = INTERVALS_S[interval]
    if last_s is None:
        newest = json.loads(get(reader, address))["lastTradeAt"]
        last_s = _seconds(newest) if newest is not None and _is_written(newest) else 0
    else:
        get(reader, address)
    last_start_s = last_s // span_s * span_s
    if first_s is not None:
        spanned_s = last_start_s - first_s // span_s * span_s
        if first_s > last_s or spanned_s >= MAX_CANDLES * span_s:
            raise InvalidParameter(
                f"timeFrom must be before timeTo, by at most {MAX_CANDLES} intervals.",
                field="timeFrom",
            )
        count, data = _read(reader, address, span_s, first_s, last_s)
        if count > MAX_TRADES:
            raise InvalidParameter(
                f"This range has {count:,} trades, more than {MAX_TRADES:,}; choose a shorter one.",
                field="timeFrom",
            )
        return Candles(interval, first_s, last_s, data)
    spans, count, data = DEFAULT_CANDLES, MAX_TRADES + 1, "[]"
    while count > MAX_TRADES and spans > 0:
        first_s = max(0, last_start_s - (spans - 1) * span_s)
        count, data = _read(reader, address, span_s, first_s, last_s)
        spans //= 4
    return Candles(interval, first_s or 0, last_s, data)


def _read(
    reader: Reader, address: bytes, span_s: int, first_s: int, last_s: int
) -> tuple[int, str]:
    window = in_blocks(reader, Window(1, 0, time_from=first_s, time_to=last_s))
    count, data = reader.row(
        "queries/pools_list_candles",
        address=address,
        span_s=span_s,
        block_from=window.block_from,
        block_to=window.block_to,
        max_trades=MAX_TRADES,
    )
    return count, data


def _is_written(moment: str) -> bool:
    """Whether a calendar has it: of years beyond 9999 Python knows nothing."""
    return len(moment) == len("2026-01-31T23:59:59Z")


def _seconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())
