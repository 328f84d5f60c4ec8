"""Trades on decentralized exchanges."""

from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    return filtered_page(reader, "dex_trades", filters, window)
