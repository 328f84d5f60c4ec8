"""An address's balance after each block that changed it, from its history and one balance."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from scan.errors import HistoryUnavailable, Unavailable, UpstreamFailed
from scan.extensions.history import queries as history
from scan.extensions.history.queries import HistoryFilter
from scan.parameters import BIGINT_MAX
from scan.queries import addresses, balances, blocks
from scan.queries.pages import Window
from scan.queries.reader import Reader

COIN = HistoryFilter(tuple(name for name in history.TYPES if name != "token_transfer"))
ROWS_AT_ONCE = 100
MAX_ROWS = 1000


class CoinBalance(NamedTuple):
    """`value` is the balance after a block in wei, None where the node does not give the balance
    that it is computed from; `delta` is the block's change. `transaction_hash` is None where
    several transactions moved coin, or none."""

    block_number: int
    timestamp: str
    delta: int
    value: int | None
    transaction_hash: str | None


def page(
    reader: Reader, address: bytes, limit: int, block_to: int = BIGINT_MAX
) -> tuple[list[CoinBalance], bool]:
    """Return the newest changes up to a block, and whether older ones follow. The node is asked for
    one balance: the address's own, or for older pages the one after their newest change."""
    rows, has_more = _rows(reader, address, limit, block_to)
    grouped = [(number, [*of]) for number, of in groupby(rows, lambda row: row["blockNumber"])]
    if has_more and len(grouped) > 1:
        grouped.pop()  # the rest of the block may not have been read
    shown = grouped[:limit]
    value = None
    if shown and block_to == BIGINT_MAX:
        value = int(addresses.get(reader, address).balance.required(shown[0][0]).wei)
    elif shown:
        value = _balance(reader, address, shown[0][0])
    changes = []
    for number, of_block in shown:
        delta = sum(history.SIGNS[row["direction"]] * int(row["amount"]) for row in of_block)
        changes.append(
            CoinBalance(number, of_block[0]["timestamp"], delta, value, _only_hash(of_block))
        )
        value = None if value is None else value - delta
    return changes, has_more or len(grouped) > limit


def _rows(
    reader: Reader, address: bytes, limit: int, block_to: int
) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """Return rows of more blocks than a page has, up to MAX_ROWS, and whether older ones follow."""
    rows: list[Mapping[str, Any]] = []
    cursor = None
    while True:
        window = Window(ROWS_AT_ONCE, 0, block_to=block_to, cursor=cursor)
        read = history.page(reader, address, window, COIN)
        rows += orjson.loads(read.data)
        cursor = read.next
        is_enough = len({row["blockNumber"] for row in rows}) > limit or len(rows) >= MAX_ROWS
        if cursor is None or is_enough:
            return rows, cursor is not None


def _balance(reader: Reader, address: bytes, number: int) -> int | None:
    try:
        block = blocks.find(reader, number)
        return int(balances.at_block(reader, address, block).required().wei)
    except (HistoryUnavailable, UpstreamFailed, Unavailable):
        reader.do_not_cache()
        return None


def _only_hash(rows: Sequence[Mapping[str, Any]]) -> str | None:
    hashes = {row["transactionHash"] for row in rows}
    return hashes.pop() if len(hashes) == 1 else None
