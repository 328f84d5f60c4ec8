"""The URI of an item, as its contract returns it: bounded, cleaned, remembered, never fetched."""

from typing import NamedTuple

from scan.contracts.read_calls import stopped_in_contract
from scan.errors import Unavailable
from scan.ethereum import token_metadata
from scan.ethereum.client import AnswerTooLarge, Node, NodeError, RpcError
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, data, to_hex
from scan.rate_limits.concurrency import ConcurrencyLimit

GAS = 30_000_000
TIMEOUT_S = 2.0
MOST_AT_ONCE = 4
MAX_URI_BYTES = 65_536  # images and metadata that stand in a data: URI are up to that long
MAX_ANSWER_BYTES = 2 * MAX_URI_BYTES + 1024  # hex, and JSON around it
CACHE_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 500  # beside the text
SELECTORS = {"BEP721": "c87b56dd", "BEP1155": "0e89341c"}  # tokenURI(uint256), uri(uint256)

REVERTED = "The contract reverted."
NO_TEXT = "The contract returned no text."
TOO_LONG = f"The contract returned more than {MAX_URI_BYTES:,} bytes."
NODE_AWAY = "The node does not answer."


class TokenUri(NamedTuple):
    """`problem` says in a sentence why there is no `uri`; `is_final`: it will not change at this
    block."""

    uri: str | None
    problem: str | None
    is_final: bool = True


class TokenUris:
    """URIs of items at blocks by their hash: asked once for each item and block."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._places = ConcurrencyLimit(MOST_AT_ONCE, busy="Too many ask for URIs of items.")
        self._cache: SizedCache[TokenUri] = SizedCache(CACHE_BYTES)

    def at(
        self, token: bytes, token_type: str, token_id: int, block_number: int, block_hash: bytes
    ) -> TokenUri:
        key = (token, token_id, block_hash)
        found = self._cache.get(key)
        if found is None:
            found = self._asked(token, token_type, token_id, block_number)
            if found.is_final:
                self._cache.store(key, found, ENTRY_BYTES + len(found.uri or ""))
        return found

    def _asked(self, token: bytes, token_type: str, token_id: int, block_number: int) -> TokenUri:
        call = {
            "to": to_hex(token),
            "data": f"0x{SELECTORS[token_type]}{token_id:064x}",
            "gas": hex(GAS),
        }
        try:
            with self._places.place():
                returned = self._node.call(
                    "eth_call",
                    call,
                    hex(block_number),
                    timeout_s=TIMEOUT_S,
                    most_bytes=MAX_ANSWER_BYTES,
                )
            return _read(data(returned))
        except AnswerTooLarge:
            return TokenUri(None, TOO_LONG)
        except RpcError as error:
            is_final = stopped_in_contract(error)
            return TokenUri(None, REVERTED if is_final else NODE_AWAY, is_final)
        except (NodeError, BadHex, Unavailable):
            return TokenUri(None, NODE_AWAY, is_final=False)


def _read(returned: bytes) -> TokenUri:
    text = token_metadata.string(returned)
    return TokenUri(None, NO_TEXT) if text is None else TokenUri(text, None)
