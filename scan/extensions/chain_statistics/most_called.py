"""The contracts that transactions called most in a time up to the newest block."""

from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from scan.errors import InvalidParameter
from scan.queries import blocks
from scan.queries.pages import Window, in_kept_blocks
from scan.queries.reader import Reader

MAX_TRANSACTIONS = 50_000  # counted for a request
SPANS_S = (86_400, 3_600, 300)

Record = dict[str, Any]


class Order(NamedTuple):
    by_gas: bool  # or by the number of transactions
    is_ascending: bool


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
        most=MAX_TRANSACTIONS,
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
            return span_s, contracts(reader, span_s, Order(True, False), None, limit)
    return SPANS_S[-1], []


def _newest_s(reader: Reader) -> int | None:
    """Return the time of the newest block in Unix seconds; None without blocks."""
    for block in orjson.loads(blocks.page(reader, Window(1, 0)).data):
        return int(datetime.fromisoformat(block["timestamp"]).timestamp())
    return None
