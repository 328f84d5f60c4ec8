"""The URI of an item as returned by its contract: bounded, cleaned, cached, never fetched."""

from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum import token_metadata
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, data, to_hex

GAS = 30_000_000
LIST_GAS = 4_000_000  # for each item of a list: a page of 25 may take the gas of three single items
TIMEOUT_S = 2.0
LIST_TIMEOUT_S = 1.0
MAX_URI_BYTES = 65_536  # enough for images and metadata in a data: URI
MAX_RESPONSE_BYTES = 2 * MAX_URI_BYTES + 1024  # hex, and JSON around it
MAX_BATCH_BYTES = 32 * MAX_RESPONSE_BYTES
CACHE_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 500  # besides the text
SELECTORS = {"BEP721": "c87b56dd", "BEP1155": "0e89341c"}  # tokenURI(uint256), uri(uint256)

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

    def at(self, node: NodeSession, item: ItemId, block_number: int, block_hash: bytes) -> TokenUri:
        uri = self._cache.get((item, block_hash))
        if uri is None:
            [uri] = _read(node.within(TIMEOUT_S), [item], block_number, GAS, MAX_RESPONSE_BYTES)
            if uri.is_final:
                self._store(item, block_hash, uri)
        return uri

    def all_at(
        self, node: NodeSession, items: Sequence[ItemId], block_number: int, block_hash: bytes
    ) -> list[TokenUri]:
        """Return URIs in the order of the items, read in one batch. A failure is not cached here:
        the contract has less gas than in at()."""
        cached = [self._cache.get((item, block_hash)) for item in items]
        missing = [item for item, uri in zip(items, cached, strict=True) if uri is None]
        session = node.within(LIST_TIMEOUT_S)
        read = _read(session, missing, block_number, LIST_GAS, MAX_BATCH_BYTES) if missing else []
        for item, uri in zip(missing, read, strict=True):
            if uri.uri is not None:
                self._store(item, block_hash, uri)
        following = iter(read)
        return [next(following) if uri is None else uri for uri in cached]

    def _store(self, item: ItemId, block_hash: bytes, uri: TokenUri) -> None:
        self._cache.store((item, block_hash), uri, ENTRY_BYTES + len(uri.uri or ""))


def _read(
    node: NodeSession, items: Sequence[ItemId], block_number: int, gas: int, most_bytes: int
) -> list[TokenUri]:
    calls = []
    for item in items:
        call_data = f"0x{SELECTORS[item.token_type]}{item.token_id:064x}"
        call = {"to": to_hex(item.token), "data": call_data, "gas": hex(gas)}
        calls.append(Call("eth_call", (call, hex(block_number))))
    try:
        return [_uri(result) for result in node.results(calls, most_bytes)]
    except (UpstreamFailed, Unavailable):
        return [TokenUri(None, NODE_AWAY, is_final=False)] * len(items)


def _uri(result: object) -> TokenUri:
    """Return the URI in a call's result, or the problem where the result is an error."""
    if isinstance(result, AnswerTooLarge):
        return TokenUri(None, TOO_LONG)
    if isinstance(result, RpcError):
        is_final = result.is_refusal
        return TokenUri(None, REVERTED if is_final else NODE_AWAY, is_final)
    if isinstance(result, str) and len(result) > MAX_RESPONSE_BYTES:  # one of a batch
        return TokenUri(None, TOO_LONG)
    try:
        text = token_metadata.string(data(result))
    except BadHex:
        return TokenUri(None, NODE_AWAY, is_final=False)
    return TokenUri(None, NO_TEXT) if text is None else TokenUri(text, None)
