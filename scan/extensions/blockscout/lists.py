"""Pages of lists: 50 rows, and as next_page_params the position of the last one, in parameters that
clients send back, or make of an item themselves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson
from flask import request

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.transaction_details.transaction_contexts import contexts
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.parameters import BIGINT_MAX
from scan.queries.filters import Value
from scan.queries.ordinals import ordinal_at
from scan.queries.pages import MAX_ENTRIES, Page, Window, filtered_page

ROWS = 50
ABSENT = (None, "", "null")  # clients send back null and empty texts of next_page_params

Record = dict[str, Any]
Position = dict[str, Any]


def text(name: str) -> str | None:
    """Return a parameter, None where it is absent."""
    value = request.args.get(name)
    return None if value in ABSENT else value


def number(name: str) -> int | None:
    value = text(name)
    if value is None:
        return None
    return parameters.integer_text({name: value}, name, default=0, least=0)


def amount(name: str) -> int | None:
    """Return a uint256, such as a balance; None where it is absent."""
    value = text(name)
    try:
        return None if value is None else parameters.token_id(value)
    except InvalidParameter:
        raise InvalidParameter(f"{name} must be a whole number below 2^256.", field=name) from None


def address(name: str) -> bytes | None:
    value = text(name)
    return None if value is None else parameters.address(value, name)


def path_address(text: str) -> bytes:
    """Return an address that stands in the path; errors name it as Blockscout does."""
    return parameters.address(text, "address_hash_param")


def one_of(name: str, allowed: Sequence[str]) -> str | None:
    value = text(name)
    return None if value is None else parameters.one_of(value, name, allowed)


def ascending() -> bool:
    """Return whether the oldest rows come first; raises InvalidParameter for other orders than that
    of the chain."""
    sort, order = text("sort"), one_of("order", ("asc", "desc"))
    if sort not in (None, "block_number"):
        raise InvalidParameter("sort must be block_number, the order of the chain.", field="sort")
    return order == "asc"


def list_response(
    items: Sequence[object], following: Mapping[str, Any] | None, **more: object
) -> Response:
    """Return a list; `following` is the position of its last row, None where no rows follow, `more`
    are fields beside the rows."""
    next_page = None if following is None else {**following, "items_count": len(items)}
    return json_value({"items": items, "next_page_params": next_page, **more})


def read_page(
    entity: str, read: Callable[[Window], Page], window: Window | None = None
) -> tuple[list[Record], Record | None]:
    """Return records of an entity in the order of the chain after the request's position, and the
    record after which the next page begins, None where no rows follow: the last one, or where the
    page ended before it was full, the last one that was compared with the filters.
    `*_position()` of the objects' modules return the position of a record."""
    window = (window or Window(ROWS, 0))._replace(
        position=position(entity), max_entries=MAX_ENTRIES
    )
    page = read(window)
    records = orjson.loads(page.data)
    if page.position is None:
        return records, None
    if len(records) == window.limit:
        return records, records[-1]
    compared = Window(1, 0, position=(page.position + 1,))
    last = orjson.loads(filtered_page(reader(), entity, {}, compared).data)
    return records, last[0] if last else None


def read_sparse_page(
    entity: str, window: Window | None = None, **filters: Value
) -> tuple[list[Record], Position | None]:
    """Return records of an entity with few rows after the request's `position`, the newest first,
    and the position of the next page; None where no rows follow. The page may end before it is
    full."""
    after = number("position")
    window = (window or Window(ROWS, 0))._replace(
        position=None if after is None else (after,), max_entries=MAX_ENTRIES
    )
    page = filtered_page(reader(), entity, filters, window)
    following = None if page.position is None else {"position": page.position}
    return orjson.loads(page.data), following


def position(entity: str) -> tuple[int, ...] | None:
    """Return the position of a Window in an entity's list that the request names, or None."""
    block_number, index = number("block_number"), number("index")
    if block_number is None:
        return None
    if entity == "logs":
        return block_number, index or 0
    return (
        ordinal_at(
            reader(),
            entity,
            block_number,
            index or 0,
            transaction_index=number("transaction_index") or 0,
            batch_index=number("index_in_batch") or 0,
        ),
    )


def before_block(limit: int = ROWS) -> Window:
    """Return the window of a list with at most one row a block, below the request's block."""
    block_number = number("block_number")
    last = BIGINT_MAX if block_number is None else block_number - 1
    return Window(limit, 0, block_to=last)


def contexts_of(records: Iterable[Record]) -> dict[str, Record]:
    """Return the places and called functions of the records' transactions, by hash."""
    return contexts(reader(), (record["transactionHash"] for record in records))
