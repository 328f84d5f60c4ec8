"""The URI of an item as returned by its contract: bounded, cleaned, cached, never fetched.

Items of BEP721 and BEP1155 tokens: their lists, thumbnails, and one item with its URI.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.cached_values import SizedCache
from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum import client, token_metadata
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.extensions.items.media_cache import ItemMedia, Media, Thumbnail
from scan.hex import BadHex, data, to_hex
from scan.queries import balances, blocks, filter_values, tokens
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

GAS = 30_000_000
LIST_GAS = 4_000_000  # for each item of a list: a page of 25 may take the gas of three single items
SHOWN_TRANSFERS = 25  # of an item
TIMEOUT_S = 2.0
LIST_TIMEOUT_S = 1.0
MAX_URI_BYTES = 65_536  # enough for images and metadata in a data: URI
MAX_RESPONSE_BYTES = 2 * MAX_URI_BYTES + 1024  # hex, and JSON around it
MAX_BATCH_BYTES = 32 * MAX_RESPONSE_BYTES
CACHE_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 500  # besides the text
# tokenURI(uint256), uri(uint256)
SELECTORS = {"BEP721": "c87b56dd", "BEP1155": "0e89341c", "BEP6909": "c87b56dd"}

REVERTED = "The contract reverted."
NO_TEXT = "The contract returned no text."
TOO_LONG = f"The contract returned more than {MAX_URI_BYTES:,} bytes."
NODE_AWAY = "The node does not respond."


class TokenUri(NamedTuple):
    """The URI of an item, or why there is none in `problem`. `is_final`: another call at this block
    would have the same result."""

    uri: str | None
    problem: str | None
    is_final: bool = True


class ItemId(NamedTuple):
    token: bytes
    token_type: str
    token_id: int


class TokenUris:
    """URIs by item and block hash; the node is asked once for each."""

    def __init__(self) -> None:
        self._cache: SizedCache[TokenUri] = SizedCache(CACHE_BYTES)

    def at(self, node: NodeSession, item: ItemId, block: BlockId) -> TokenUri:
        uri = self._cache.get((item, block.hash))
        if uri is None:
            [uri] = _read(node.within(TIMEOUT_S), [item], block, GAS, MAX_RESPONSE_BYTES)
            if uri.is_final:
                self._store(item, block.hash, uri)
        return uri

    def all_at(self, node: NodeSession, items: Sequence[ItemId], block: BlockId) -> list[TokenUri]:
        """Return URIs in the order of the items, read in one batch. A failure is not cached here:
        the contract has less gas than in at()."""
        cached = [self._cache.get((item, block.hash)) for item in items]
        missing = [item for item, uri in zip(items, cached, strict=True) if uri is None]
        session = node.within(LIST_TIMEOUT_S)
        read = _read(session, missing, block, LIST_GAS, MAX_BATCH_BYTES) if missing else []
        for item, uri in zip(missing, read, strict=True):
            if uri.uri is not None:
                self._store(item, block.hash, uri)
        following = iter(read)
        return [next(following) if uri is None else uri for uri in cached]

    def _store(self, item: ItemId, block_hash: bytes, uri: TokenUri) -> None:
        self._cache.store((item, block_hash), uri, ENTRY_BYTES + len(uri.uri or ""))


def _read(
    node: NodeSession, items: Sequence[ItemId], block: BlockId, gas: int, most_bytes: int
) -> list[TokenUri]:
    calls = []
    for item in items:
        call_data = f"0x{SELECTORS[item.token_type]}{item.token_id:064x}"
        call = {"to": to_hex(item.token), "data": call_data, "gas": hex(gas)}
        calls.append(client.Call("eth_call", (call, block)))
    try:
        return [_uri(result) for result in node.results(calls, most_bytes)]
    except (UpstreamFailed, Unavailable):
        return [TokenUri(None, NODE_AWAY, is_final=False)] * len(items)


def _uri(result: object) -> TokenUri:
    """Return the URI in a call's result, or the problem where the result is an error."""
    if isinstance(result, client.AnswerTooLarge):
        return TokenUri(None, TOO_LONG)
    if isinstance(result, client.RpcError):
        is_final = result.is_refusal
        return TokenUri(None, REVERTED if is_final else NODE_AWAY, is_final)
    if isinstance(result, str) and len(result) > MAX_RESPONSE_BYTES:  # one of a batch
        return TokenUri(None, TOO_LONG)
    try:
        text = token_metadata.string(data(result))
    except BadHex:
        return TokenUri(None, NODE_AWAY, is_final=False)
    return TokenUri(None, NO_TEXT) if text is None else TokenUri(text, None)


NEVER_MOVED = "No transfer of this id is indexed."
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
        "queries/tokens_list_items", address=token, **window.page(traversal)
    )
    _require_items(token_type)
    if token_type == "BEP721":
        records = orjson.loads(data)
        balances.correct_owners(reader, records, token)
        data = orjson.dumps(records).decode()
    return Page.keyed(traversal, (data, count, total, first_ordinal))


def held_by(reader: Reader, address: bytes, window: Window) -> Page:
    """Return the BEP721 and BEP1155 items held, in descending order of their first transfers."""
    traversal = window.traversal("items held", {"address": address}, has_blocks=False)
    data, count, total, first_ordinal = reader.row(
        "queries/addresses_list_items", address=address, **window.page(traversal)
    )
    data = _corrected(reader, data, holder=address)
    return Page.keyed(traversal, (data, count, total, first_ordinal))


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
    data = _corrected(reader, data, token, address)
    return Page.keyed(traversal, (data, count, None, first_ordinal))


def get(reader: Reader, token: bytes, token_id: int) -> Item:
    """Return an item; raises NotFound for a token without items, and an id that was never moved and
    has no owner."""
    token_type, record, owners = reader.row(
        "queries/token_items_get", address=token, token_id=token_id
    )
    _require_items(token_type)
    newest = "[]"
    if record is None:
        record = orjson.dumps(_unlisted(reader, token, token_type, token_id)).decode()
    else:
        newest = transfers(reader, token, token_id, Window(SHOWN_TRANSFERS, 0)).data
    item_id, head = ItemId(token, token_type, token_id), blocks.or_newest(reader, None)
    uri = reader.sources.get(TokenUris).at(reader.node, item_id, head)
    media = reader.sources.get(ItemMedia).of(uri.uri, token_id)
    if not uri.is_final or not media.is_of_chain:  # the next response may be another one
        reader.do_not_cache()
    if token_type in filter_values.WITH_AMOUNTS:
        owners = _corrected(reader, owners, token, item=token_id)
    else:
        item = orjson.loads(record)
        if "ownerBlock" not in item:
            balances.correct_owners(reader, [item], token)
        renamed = {"ownerBlock": "balanceBlock", "inconsistentSince": "inconsistentSince"}
        marks = {renamed[name]: block for name, block in item.items() if name in renamed}
        holders = [{"address": item["owner"], "balance": "1", **marks}] if item["owner"] else []
        record, owners = orjson.dumps(item).decode(), orjson.dumps(holders).decode()
    return Item(record, owners, newest, uri, media)


def _unlisted(reader: Reader, token: bytes, token_type: str | None, token_id: int) -> Any:
    """Return the record of an item without transfers, as of a ConsecutiveTransfer that is too large
    to be read, by ownerOf(). Raises NotFound where nobody owns it."""
    record = {
        "tokenAddress": to_hex(token),
        "tokenId": str(token_id),
        "tokenType": token_type,
        "owner": None,
        "ownerCount": 0,
        "transferCount": 0,
        "unproven": ["tokenType"],
    }
    if token_type == "BEP721":
        balances.read_owners(reader, [record], token, blocks.or_newest(reader, None))
        if reader.has_node_failed:
            raise Unavailable("No transfer of this id is indexed, and the node does not respond.")
    if record["owner"] is None:
        raise NotFound(NEVER_MOVED)
    return record


def _corrected(
    reader: Reader,
    data: str,
    token: bytes | None = None,
    holder: bytes | None = None,
    item: int | None = None,
) -> str:
    """Return records of balances of items, with those corrected that events do not tell."""
    records = orjson.loads(data)
    balances.correct(reader, records, token, holder, item=item)
    return orjson.dumps(records).decode()


class Thumbnails(NamedTuple):
    """`shown` has the thumbnail of each item, or None; later requests may get more that
    `are_pending`."""

    shown: Sequence[Thumbnail | None]
    are_pending: bool


def thumbnails(reader: Reader, records: Sequence[Mapping[str, Any]]) -> Thumbnails:
    """Return thumbnails of the first MAX_THUMBNAILS items of a list, with one batch of calls to the
    node.

    Documents that take long, or are being fetched, are left for the next request.
    """
    first = [
        ItemId(
            bytes.fromhex(record["tokenAddress"][2:]),
            record.get("tokenType") or record["type"],
            int(record["tokenId"]),
        )
        for record in records[:MAX_THUMBNAILS]
    ]
    listed_thumbnails: list[Thumbnail | None] = [None] * len(records)
    if not first:
        return Thumbnails(listed_thumbnails, are_pending=False)
    head = blocks.or_newest(reader, None)
    uris = reader.sources.get(TokenUris).all_at(reader.node, first, head)
    item_media, pending = reader.sources.get(ItemMedia), 0
    ends_at = time.monotonic() + THUMBNAILS_S
    for index, (item, uri) in enumerate(zip(first, uris, strict=True)):
        if pending == MAX_PENDING or time.monotonic() > ends_at:
            reader.do_not_cache()
            return Thumbnails(listed_thumbnails, are_pending=True)
        media = item_media.of(uri.uri, item.token_id)
        listed_thumbnails[index] = item_media.thumbnail(media)
        pending += media.is_pending
        if not uri.is_final or not media.is_of_chain:
            reader.do_not_cache()
    return Thumbnails(listed_thumbnails, pending > 0)


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
        **window.page(traversal),
        seen_block=traversal.seen_block,
    )
    _require_items(token_type)
    if total is None:
        _unlisted(reader, token, token_type, token_id)
        total = 0
    row = data, count, total, *edges
    return Page.from_row(reader, "token_transfers", traversal, row, reader.kept_from_of(token))


def _require_items(token_type: str | None) -> None:
    if token_type is None:
        raise NotFound(tokens.UNKNOWN)
    if token_type == "BEP20":
        raise NotFound("This token is a BEP20: it is not an NFT and has no items.")
