"""Tokens and who holds them."""

import orjson

from scan.errors import NotFound
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

UNKNOWN = "No token is known at this address."


def page(reader: Reader, window: Window) -> Page:
    """By the number of holders; ranges of blocks do not apply."""
    return Page(
        *reader.row(
            "queries/tokens_list",
            direction=window.direction,
            limit=window.limit,
            offset=window.offset,
        )
    )


def get(reader: Reader, address: bytes) -> str:
    """The record as JSON text; raises NotFound."""
    record: str | None
    (record,) = reader.row("queries/tokens_get", address=address)
    if record is None:
        raise NotFound(UNKNOWN)
    return record


def type_of(reader: Reader, address: bytes) -> str | None:
    """BEP20, BEP721 or BEP1155; None for an unknown token."""
    (record,) = reader.row("queries/tokens_get", address=address)
    return None if record is None else str(orjson.loads(record)["type"])


def holders(reader: Reader, address: bytes, limit: int, offset: int) -> Page:
    """The largest first; raises NotFound for an unknown token."""
    page = Page(
        *reader.row("queries/tokens_list_holders", address=address, limit=limit, offset=offset)
    )
    if page.data is None:
        raise NotFound(UNKNOWN)
    return page
