"""Blobs of transactions (EIP-4844)."""

from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    return filtered_page(reader, "blobs", filters, window)
