"""Trades on decentralized exchanges."""

from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(
    reader: Reader,
    window: Window,
    *,
    maker: bytes | None = None,
    dex: str | None = None,
    pool: bytes | None = None,
    token: bytes | None = None,
) -> Page:
    """`token` is what either side of the trade gave."""
    keys = {"maker": maker, "dex": dex, "pool": pool, "token": token}
    return filtered_page(reader, "dex_trades", keys, window)
