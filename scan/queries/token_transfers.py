"""Transfers of tokens: their lists, and their counts over time."""

from collections.abc import Mapping
from typing import Any

import orjson

from scan.queries import tokens
from scan.queries.filters import Value
from scan.queries.ordinals import ordinal_at
from scan.queries.pages import Form, Page, Window, filtered_page
from scan.queries.reader import Reader


def page(
    reader: Reader,
    window: Window,
    *,
    form: Form = "api",
    **filters: Value | None,
) -> Page:
    """Return a page of transfers. A type beside a token matches all its transfers, or none.

    A type beside an address is a second key: an address has one list of all types, so that rows
    before the page are read, too, and the total is not known.
    """
    token, token_type = filters.get("token"), filters.get("type")
    if isinstance(token, bytes) and token_type is not None:
        del filters["type"]
        if tokens.type_of(reader, token) != token_type:
            window.traversal("token_transfers", filters)
            return Page("[]", 0, 0)
    return filtered_page(reader, "token_transfers", filters, window, form=form)


def of_transaction(
    reader: Reader, record: Mapping[str, Any], limit: int, after: tuple[int, int] = (0, -1)
) -> tuple[list[dict[str, Any]], bool]:
    """Return the transfers of a transaction in the order of their logs, and whether more follow;
    they begin `after` a log index and an index in its batch."""
    number = record["blockNumber"]
    first = ordinal_at(
        reader,
        "token_transfers",
        number,
        after[0],
        transaction_index=record["transactionIndex"],
        batch_index=after[1] + 1,
    )
    window = Window(limit + 1, 0, "asc", number, number, position=(first - 1,))
    rows = orjson.loads(page(reader, window).data)
    own = [row for row in rows if row["transactionHash"] == record["hash"]]
    return own[:limit], len(own) > limit
