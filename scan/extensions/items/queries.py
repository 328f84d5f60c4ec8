"""Items of BEP721 and BEP1155 tokens: their lists, thumbnails, and one item with its URI."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import NotFound
from scan.extensions.items.item_media.media_cache import ItemMedia, Media, Thumbnail
from scan.extensions.items.token_uri import ItemId, TokenUri, TokenUris
from scan.hex import to_hex
from scan.queries import older_tokens
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader
from scan.queries.tokens import UNKNOWN

MAX_THUMBNAILS = 25  # of a page of a list
THUMBNAILS_S = 0.25  # to decode them
MAX_PENDING = 8  # documents from other hosts that one page of a list has fetched


class Item(NamedTuple):
    """An item's `record`, `owners` and `transfers` (the newest 25) are JSON as text."""

    record: str
    owners: str
    transfers: str
    uri: TokenUri
    media: Media


def page(reader: Reader, token: bytes, window: Window) -> Page:
    """Return a token's items in descending order of their first transfers; raises NotFound for a
    BEP20 or unknown token."""
    traversal = window.traversal("items", {"token": token}, has_blocks=False)
    data, count, total, token_type, first_ordinal = reader.row(
        "queries/tokens_list_items",
        address=token,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
    )
    _require_items(token_type)
    following = traversal.next(None if first_ordinal is None else [first_ordinal])
    return Page(data, count, total, following)


def held_by(reader: Reader, address: bytes, window: Window) -> Page:
    """Return the BEP721 and BEP1155 items held, in descending order of their first transfers."""
    traversal = window.traversal("items held", {"address": address}, has_blocks=False)
    data, count, total, first_ordinal = reader.row(
        "queries/addresses_list_items",
        address=address,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
    )
    following = traversal.next(None if first_ordinal is None else [first_ordinal])
    return Page(older_tokens.mark_items(reader, data), count, total, following)


def held_of_token(reader: Reader, token: bytes, address: bytes, window: Window) -> Page:
    """Return the items of a token that an address holds, in descending order of their first
    transfers, with how many of each; raises NotFound as page() does."""
    filters = {"token": token, "address": address}
    traversal = window.traversal("items of a token held", filters, has_blocks=False)
    data, count, token_type, first_ordinal = reader.row(
        "queries/tokens_list_items_held",
        token=token,
        address=address,
        limit=window.limit,
        after=traversal.after,
    )
    _require_items(token_type)
    following = traversal.next(None if first_ordinal is None else [first_ordinal])
    return Page(older_tokens.mark_items(reader, data), count, None, following)


def get(reader: Reader, token: bytes, token_id: int) -> Item:
    """Return an item; raises NotFound for a token without items, and an id that was never moved."""
    token_type, record, owners, transfers, head_number, head_hash = reader.row(
        "queries/token_items_get", address=token, token_id=token_id
    )
    _require_items(token_type)
    if record is None:
        raise _never_moved()
    uri = reader.sources.get(TokenUris).at(
        reader.node, ItemId(token, token_type, token_id), head_number, bytes(head_hash)
    )
    media = reader.sources.get(ItemMedia).of(uri.uri, token_id)
    if not uri.is_final or not media.is_of_chain:  # the next response may be another one
        reader.do_not_cache()
    if token_type == "BEP1155":
        owners = older_tokens.mark_items(reader, owners, to_hex(token))
    return Item(record, owners, transfers, uri, media)


class Thumbnails(NamedTuple):
    """`shown` has the thumbnail of each item, or None; later requests may get more that
    `are_pending`."""

    shown: Sequence[Thumbnail | None]
    are_pending: bool


def thumbnails(reader: Reader, listed: Sequence[ItemId]) -> Thumbnails:
    """Return thumbnails of the first MAX_THUMBNAILS items, with one batch of calls to the node.

    Documents that take long, or are being fetched, are left for the next request.
    """
    first = listed[:MAX_THUMBNAILS]
    shown: list[Thumbnail | None] = [None] * len(listed)
    if not first:
        return Thumbnails(shown, False)
    number, block_hash = reader.row("queries/chain_get_newest_block")
    uris = reader.sources.get(TokenUris).all_at(reader.node, first, number, bytes(block_hash))
    item_media, pending = reader.sources.get(ItemMedia), 0
    ends_at = time.monotonic() + THUMBNAILS_S
    for index, (item, uri) in enumerate(zip(first, uris, strict=True)):
        if pending == MAX_PENDING or time.monotonic() > ends_at:
            reader.do_not_cache()
            return Thumbnails(shown, True)
        media = item_media.of(uri.uri, item.token_id)
        shown[index] = item_media.thumbnail(media)
        pending += media.is_pending
        if not uri.is_final or not media.is_of_chain:
            reader.do_not_cache()
    return Thumbnails(shown, pending > 0)


def ordinal(reader: Reader, token: bytes, token_id: int) -> int:
    """Return an item's ordinal in lists; 0, the end of every list, where it was never moved."""
    (first,) = reader.row("queries/token_items_get_ordinal", address=token, token_id=token_id)
    return int(first or 0)


def transfers(reader: Reader, token: bytes, token_id: int, window: Window) -> Page:
    """Return an item's transfers, the newest first; raises NotFound as get() does."""
    traversal = window.traversal("item transfers", {"token": token, "id": token_id})
    data, count, total, token_type, *edges = reader.row(
        "queries/token_transfers_list_by_item",
        address=token,
        token_id=token_id,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
        seen_block=traversal.seen_block,
    )
    _require_items(token_type)
    if total is None:
        raise _never_moved()
    row = data, count, total, *edges
    return Page.of_row(reader, "token_transfers", traversal, row, reader.kept_from)


def _require_items(token_type: str | None) -> None:
    if token_type is None:
        raise NotFound(UNKNOWN)
    if token_type == "BEP20":
        raise NotFound("This token is a BEP20: it is not an NFT and has no items.")


def _never_moved() -> NotFound:
    return NotFound("No transfer of this id is indexed.")
