"""Withdrawals of validators (EIP-4895) and builders (EIP-7732)."""

from typing import Any

import orjson

from scan.parameters import BIGINT_MAX
from scan.queries.pages import Window
from scan.queries.reader import Reader


def page(
    reader: Reader, window: Window, *, address: bytes | None = None, before_index: int | None = None
) -> list[dict[str, Any]]:
    """Return withdrawals, to an address or all, before an index; the window should end at the block
    of that index, since the withdrawals of later blocks are read, too."""
    rows, _ = reader.row(
        "queries/withdrawals_list",
        is_unbounded=before_index is not None and window.block_to == BIGINT_MAX,
        address=address,
        has_address=address is not None,
        block_from=window.block_from,
        block_to=window.block_to,
        before_index=before_index,
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
    )
    records: list[dict[str, Any]] = orjson.loads(rows)
    return records


def count(reader: Reader) -> int:
    """Return the number of the chain's withdrawals, whose indexes begin with 0 (EIP-4895)."""
    newest = page(reader, Window(1, 0))
    return int(newest[0]["index"]) + 1 if newest else 0
