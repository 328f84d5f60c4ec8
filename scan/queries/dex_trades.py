"""Trades on decentralized exchanges."""

from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(
    reader: Reader, window: Window, *, maker: bytes | None = None, dex: str | None = None
) -> Page:
    return filtered_page(reader, "dex_trades", {"maker": maker, "dex": dex}, window)
