"""Items of BEP721 and BEP1155, as endpoints and pages show them: lists, and one with its URI."""

from typing import NamedTuple

from scan.contracts.token_uri import TokenUri
from scan.errors import NotFound
from scan.queries.pages import Page
from scan.queries.reader import Reader
from scan.queries.tokens import UNKNOWN


class Item(NamedTuple):
    """`record`, `owners` and `transfers` (the newest 25) are JSON as text."""

    record: str
    owners: str
    transfers: str
    uri: TokenUri


def page(reader: Reader, token: bytes, limit: int, offset: int) -> Page:
    """Those first moved last first; raises NotFound for an unknown token, and for a BEP20."""
    *columns, token_type = reader.row(
        "queries/tokens_list_items", address=token, limit=limit, offset=offset
    )
    _require_items(token_type)
    return Page(*columns)


def get(reader: Reader, token: bytes, token_id: int) -> Item:
    """Raises NotFound also where that id was never moved."""
    token_type, record, owners, transfers, head_number, head_hash = reader.row(
        "queries/token_items_get", address=token, token_id=token_id
    )
    _require_items(token_type)
    if record is None:
        raise _never_moved()
    uri = reader.sources.token_uris.at(
        reader.node, token, token_type, token_id, head_number, bytes(head_hash)
    )
    if not uri.is_final:  # the node may return it to the next request
        reader.do_not_cache()
    return Item(record, owners, transfers, uri)


def transfers(reader: Reader, token: bytes, token_id: int, limit: int, offset: int) -> Page:
    """Newest first; raises NotFound as get() does."""
    *columns, token_type = reader.row(
        "queries/token_transfers_list_by_item",
        address=token,
        token_id=token_id,
        limit=limit,
        offset=offset,
    )
    _require_items(token_type)
    if columns[2] is None:
        raise _never_moved()
    return Page(*columns)


def _require_items(token_type: str | None) -> None:
    if token_type is None:
        raise NotFound(UNKNOWN)
    if token_type == "BEP20":
        raise NotFound("This token is a BEP20: it is no NFT, and has no items.")


def _never_moved() -> NotFound:
    return NotFound("No transfer of this id is indexed.")
