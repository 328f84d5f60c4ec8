"""Items of BEP721 and BEP1155, as endpoints and pages show them: lists, and one with its URI."""

from typing import NamedTuple

from scan.contracts.token_uri import TokenUri
from scan.errors import NotFound
from scan.http.chain_lists import Page
from scan.http.chain_reads import do_not_cache, read_chain
from scan.http.services import services


class Item(NamedTuple):
    """`record`, `owners` and `transfers` (the newest 25) are JSON as text."""

    record: str
    owners: str
    transfers: str
    uri: TokenUri


def read_items(token: bytes, limit: int, offset: int) -> Page:
    """Those first moved last first; raises NotFound for an unknown token, and for a BEP20."""
    *page, token_type = read_chain(
        "api/tokens_list_items", address=token, limit=limit, offset=offset
    )
    _require_items(token_type)
    return Page(*page)


def read_item(token: bytes, token_id: int) -> Item:
    """Raises NotFound also where that id was never moved."""
    token_type, record, owners, transfers, head_number, head_hash = read_chain(
        "api/token_items_get", address=token, token_id=token_id
    )
    _require_items(token_type)
    if record is None:
        raise _never_moved()
    uri = services().token_uris.at(token, token_type, token_id, head_number, bytes(head_hash))
    if not uri.is_final:  # the node may return it to the next request
        do_not_cache()
    return Item(record, owners, transfers, uri)


def read_item_transfers(token: bytes, token_id: int, limit: int, offset: int) -> Page:
    """Newest first; raises NotFound as read_item() does."""
    *page, token_type = read_chain(
        "api/token_transfers_list_by_item",
        address=token,
        token_id=token_id,
        limit=limit,
        offset=offset,
    )
    _require_items(token_type)
    if page[2] is None:
        raise _never_moved()
    return Page(*page)


def _require_items(token_type: str | None) -> None:
    if token_type is None:
        raise NotFound("No token is known at this address.")
    if token_type == "BEP20":
        raise NotFound("This token is a BEP20: it is no NFT, and has no items.")


def _never_moved() -> NotFound:
    return NotFound("No transfer of this id is indexed.")
