"""Transfers of tokens: their lists, and how many there were over time."""

from scan.queries import tokens
from scan.queries.pages import Form, Page, Window, filtered_page
from scan.queries.reader import Reader


def page(
    reader: Reader,
    window: Window,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
    token: bytes | None = None,
    token_type: str | None = None,
    form: Form = "api",
) -> Page:
    """`token_type` beside a token tells only whether it is of that type.

    Beside an address it is one key more: an address has one list of all types, so that what lies
    before the page is read, too, and the total is not known.
    """
    keys: dict[str, bytes | str | None]
    keys = {"address": address, "from": sender, "to": recipient, "token": token, "type": None}
    if token is None or token_type is None:
        keys["type"] = token_type
    elif tokens.type_of(reader, token) != token_type:
        window.traversal("token_transfers", keys)
        return Page("[]", 0, 0)
    return filtered_page(reader, "token_transfers", keys, window, form=form)


def count_by_day(reader: Reader, token: bytes, days: int) -> str:
    """[{time, transfers}] as JSON text: of the newest counted days since its first.

    A day without blocks is left out.
    """
    counts: str
    (counts,) = reader.row("queries/token_transfers_count_by_day", address=token, days=days)
    return counts


def count_over_time(reader: Reader, token: bytes) -> str:
    """[{time, transfers}] as JSON text: how many there had been at moments of its life."""
    points: str
    (points,) = reader.row("queries/token_transfers_count_over_time", address=token)
    return points
