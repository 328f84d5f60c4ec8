"""Transfers of tokens: their lists, and how many there were over time."""

from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(
    reader: Reader,
    window: Window,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
    token: bytes | None = None,
) -> Page:
    filters = {"address": address, "from": sender, "to": recipient, "token": token}
    return filtered_page(reader, "token_transfers", filters, window)


def count_over_time(reader: Reader, token: bytes) -> str:
    """[{time, transfers}] as JSON text: how many there had been at moments of its life."""
    points: str
    (points,) = reader.row("queries/token_transfers_count_over_time", address=token)
    return points
