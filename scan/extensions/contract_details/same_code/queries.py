"""Contracts with the code of another, the oldest first."""

from scan.errors import InvalidParameter, NotFound
from scan.queries.cursors import ADDRESS, ORDINAL
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

MOST_COUNTED = 50_000


def page(reader: Reader, address: bytes, window: Window) -> Page:
    """Return a page of the contracts with the code at an address, that itself among them; the total
    is None above MOST_COUNTED.

    Raises NotFound where no contract is indexed, InvalidParameter for an offset beyond
    MOST_COUNTED, which would read as many rows; a cursor works at any depth.
    """
    filters = {"address": address.hex()}
    traversal = window.traversal("same_code", filters, (ORDINAL, ADDRESS), has_blocks=False)
    if window.offset >= MOST_COUNTED:
        raise InvalidParameter(
            f"page must be within the first {MOST_COUNTED:,} contracts; a cursor goes on.",
            field="page",
        )
    after_block, after_address = traversal.position(2)
    is_contract, data, count, total, block, last = reader.row(
        "queries/contracts_list_by_code",
        address=address,
        limit=window.limit,
        offset=window.offset,
        most_counted=MOST_COUNTED,
        after_block=after_block,
        after_address=after_address,
    )
    if not is_contract:
        raise NotFound("No contract is indexed at this address.", field="address")
    following = traversal.next(None if last is None else (int(block), bytes(last)))
    return Page(data, count, total, following)
