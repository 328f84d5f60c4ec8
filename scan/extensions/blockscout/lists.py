"""Pages of lists: 50 rows, and as next_page_params the position of the last one, in parameters that
clients send back, or make of an item themselves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from scan import parameters
from scan.errors import InvalidParameter
from scan.extensions.blockscout.routing import text
from scan.extensions.transaction_details.decoding import contexts
from scan.http.requests import Response, json_value, reader
from scan.queries.cursors import ordinal_at
from scan.queries.pages import MAX_ENTRIES, Page, Value, Window, filtered_page

ROWS, MOST_ROWS = 50, 100  # more are the most, as with Blockscout

# The parameters of a row's place in the chain, by entity.
PLACES = {
    "transactions": ("block_number", "index"),
    "logs": ("block_number", "index"),
    "internal_transfers": ("block_number", "transaction_index", "index"),
    "token_transfers": ("block_number", "index", "index_in_batch"),
}

Record = dict[str, Any]
Position = dict[str, Any]
Place = int | bytes


def number(name: str, least: int = 0) -> int | None:
    value = text(name)
    if value is None:
        return None
    return parameters.integer_text({name: value}, name, default=0, least=least)


def flag(name: str, *, default: bool) -> bool:
    value = one_of(name, ("true", "false"))
    return default if value is None else value == "true"


def row_count() -> int:
    """Return how many rows a page has: 50, or as many as `items_count` says."""
    return min(number("items_count", least=1) or ROWS, MOST_ROWS)


def first_window() -> Window:
    """Return the window of a list's first page."""
    return Window(row_count(), 0)


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


def together(**readers: Callable[[str], Place | None]) -> tuple[Place, ...] | None:
    """Return the parameters that make a position, as these functions read them; None without them.
    Raises InvalidParameter where one of them is missing."""
    values = {name: read(name) for name, read in readers.items()}
    if all(value is None for value in values.values()):
        return None
    for name, value in values.items():
        if value is None:
            raise InvalidParameter(f"{name} is missing.", field=name)
    return tuple(value for value in values.values() if value is not None)


def one_of(name: str, allowed: Sequence[str]) -> str | None:
    value = text(name)
    return None if value is None else parameters.one_of(value, name, allowed)


def direction() -> str:
    return one_of("order", ("asc", "desc")) or "desc"


def list_response(
    items: Sequence[object], following: Mapping[str, Any] | None, **more: object
) -> Response:
    """Return a list; `following` is the position of its last row, None where no rows follow, `more`
    are fields beside the rows."""
    return json_value({"items": items, "next_page_params": following, **more})


def read_page(
    entity: str, read: Callable[[Window], Page], window: Window | None = None
) -> tuple[list[Record], Record | None]:
    """Return records of an entity in the order of the chain after the request's position, and the
    record after which the next page begins, None where no rows follow: the last one, or where the
    page ended before it was full, the last one that was compared with the filters.
    `*_position()` of the objects' modules return the position of a record."""
    window = window or first_window()
    block = window.block_from if window.block_from == window.block_to else None
    window = window._replace(position=position(entity, block), max_entries=MAX_ENTRIES)
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
    position = None if after is None else (after,)
    window = (window or first_window())._replace(position=position, max_entries=MAX_ENTRIES)
    page = filtered_page(reader(), entity, filters, window)
    following = None if page.position is None else {"position": page.position}
    return orjson.loads(page.data), following


def position(entity: str, block_number: int | None = None) -> tuple[int, ...] | None:
    """Return the position of a Window in an entity's list that the request names, or None; the
    block may be left out in a list of one block's rows. Raises InvalidParameter."""
    place = {name: number(name) for name in PLACES[entity]}
    if not any(value is not None for value in place.values()):
        return None
    block = block_number if place["block_number"] is None else place["block_number"]
    if block is None:
        raise InvalidParameter("block_number is missing.", field="block_number")
    if entity == "logs":
        return block, place["index"] or 0
    return (
        ordinal_at(
            reader(),
            entity,
            block,
            place["index"] or 0,
            transaction_index=place.get("transaction_index") or 0,
            batch_index=place.get("index_in_batch") or 0,
        ),
    )


def require_block(expected: int) -> None:
    """Raise InvalidParameter for a position in another block than that of a transaction."""
    if number("block_number") not in (None, expected):
        raise InvalidParameter("block_number is another block's.", field="block_number")


def before_block() -> Window:
    """Return the window of a list with at most one row a block, below the request's block."""
    block_number = number("block_number")
    last = parameters.BIGINT_MAX if block_number is None else block_number - 1
    return first_window()._replace(block_to=last)


def contexts_of(records: Iterable[Record]) -> dict[str, Record]:
    """Return the places and called functions of the records' transactions, by hash."""
    return contexts(reader(), (record["transactionHash"] for record in records))
