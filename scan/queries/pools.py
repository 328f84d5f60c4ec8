"""Pools of exchanges, by how much is traded in them."""

from scan.queries.cursors import ADDRESS, ORDINAL
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader


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
