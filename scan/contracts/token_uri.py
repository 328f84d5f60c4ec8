"""The URI of an item as returned by its contract: bounded, cleaned, cached, never fetched."""

from typing import NamedTuple

from scan.contracts.read_calls import stopped_in_contract
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum import token_metadata
from scan.ethereum.client import AnswerTooLarge, RpcError
from scan.ethereum.gateway import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, data, to_hex

GAS = 30_000_000
TIMEOUT_S = 2.0
MAX_URI_BYTES = 65_536  # enough for images and metadata in a data: URI
MAX_RESPONSE_BYTES = 2 * MAX_URI_BYTES + 1024  # hex, and JSON around it
CACHE_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 500  # besides the text
SELECTORS = {"BEP721": "c87b56dd", "BEP1155": "0e89341c"}  # tokenURI(uint256), uri(uint256)

REVERTED = "The contract reverted."
NO_TEXT = "The contract returned no text."
TOO_LONG = f"The contract returned more than {MAX_URI_BYTES:,} bytes."
NODE_AWAY = "The node does not respond."


class TokenUri(NamedTuple):
    """A URI; `problem` is the reason if there is no `uri`; `is_final`: another call at this
    block would give the same result."""

    uri: str | None
    problem: str | None
    is_final: bool = True


class TokenUris:
    """URIs by item and block hash, requested from the node once."""

    def __init__(self) -> None:
        self._cache: SizedCache[TokenUri] = SizedCache(CACHE_BYTES)

    def at(
        self,
        node: NodeSession,
        token: bytes,
        token_type: str,
        token_id: int,
        block_number: int,
        block_hash: bytes,
    ) -> TokenUri:
        key = (token, token_id, block_hash)
        uri = self._cache.get(key)
        if uri is None:
            uri = _read(node.within(TIMEOUT_S), token, token_type, token_id, block_number)
            if uri.is_final:
                self._cache.store(key, uri, ENTRY_BYTES + len(uri.uri or ""))
        return uri


def _read(
    node: NodeSession, token: bytes, token_type: str, token_id: int, block_number: int
) -> TokenUri:
    call = {
        "to": to_hex(token),
        "data": f"0x{SELECTORS[token_type]}{token_id:064x}",
        "gas": hex(GAS),
    }
    try:
        returned = node.call("eth_call", call, hex(block_number), most_bytes=MAX_RESPONSE_BYTES)
        text = token_metadata.string(data(returned))
    except AnswerTooLarge:
        return TokenUri(None, TOO_LONG)
    except RpcError as error:
        is_final = stopped_in_contract(error)
        return TokenUri(None, REVERTED if is_final else NODE_AWAY, is_final)
    except (UpstreamFailed, Unavailable, BadHex):
        return TokenUri(None, NODE_AWAY, is_final=False)
    return TokenUri(None, NO_TEXT) if text is None else TokenUri(text, None)
