"""Balances and code of an address at a block, read from the node and cached."""

from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Call, RpcError
from scan.ethereum.gateway import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.ethereum.token_metadata import balance_of, word
from scan.hex import BadHex, data, quantity, to_hex

TIMEOUT_S = 0.5
CACHE_BYTES = 8 * 1024 * 1024
ENTRY_BYTES = 600  # some 14,000 states
CALL_GAS = 1_000_000
MAX_CALL_BYTES = 16 * 1024


class AccountState(NamedTuple):
    """The state of an address at a block; balance in wei. An account that delegates to code
    (EIP-7702) has code, but is no contract."""

    balance: int
    is_contract: bool
    has_code: bool


class AccountStates:
    """Balances and code by address and block hash; the node is asked once for each."""

    def __init__(self) -> None:
        self._cache: SizedCache[AccountState] = SizedCache(CACHE_BYTES)
        self._token_balances: SizedCache[int] = SizedCache(CACHE_BYTES)

    def at(
        self, node: NodeSession, address: bytes, block_number: int, block_hash: bytes
    ) -> AccountState | None:
        """Return the state of an address; None if the node gives no valid response within
        TIMEOUT_S."""
        return self.all_at(node, [address], block_number, block_hash).get(address)

    def all_at(
        self, node: NodeSession, addresses: Sequence[bytes], block_number: int, block_hash: bytes
    ) -> dict[bytes, AccountState]:
        """Return the states by address, read in one batch. Addresses for which at() would return
        None are missing."""
        cached = {address: self._cache.get((address, block_hash)) for address in addresses}
        states = {address: state for address, state in cached.items() if state is not None}
        missing = [address for address in cached if address not in states]
        try:
            read = _read(node.within(TIMEOUT_S), missing, block_number) if missing else {}
        except (UpstreamFailed, Unavailable, BadHex):
            return states
        for address, state in read.items():
            self._cache.store((address, block_hash), state, ENTRY_BYTES)
        return states | read

    def token_balance_at(
        self, node: NodeSession, token: bytes, holder: bytes, block_number: int, block_hash: bytes
    ) -> int | None:
        """Return the holder's balance by the token's balanceOf(); None if the token or the node
        gives none within TIMEOUT_S."""
        key = (token, holder, block_hash)
        balance = self._token_balances.get(key)
        if balance is not None:
            return balance
        call = {"to": to_hex(token), "data": balance_of(holder), "gas": hex(CALL_GAS)}
        try:
            answer = node.within(TIMEOUT_S).call(
                "eth_call", call, hex(block_number), most_bytes=MAX_CALL_BYTES
            )
            balance = word(data(answer))
        except (UpstreamFailed, Unavailable, BadHex, RpcError):
            return None
        if balance is not None:
            self._token_balances.store(key, balance, ENTRY_BYTES)
        return balance


def _read(
    node: NodeSession, addresses: Sequence[bytes], block_number: int
) -> dict[bytes, AccountState]:
    block = hex(block_number)
    calls = [
        Call(method, (to_hex(address), block))
        for address in addresses
        for method in ("eth_getBalance", "eth_getCode")
    ]
    results = node.results(calls)
    return {
        address: state_of(balance, code)
        for address, balance, code in zip(addresses, results[::2], results[1::2], strict=True)
        if not isinstance(balance, RpcError) and not isinstance(code, RpcError)
    }


def state_of(balance: object, code: object) -> AccountState:
    """Return the state by the results of eth_getBalance and eth_getCode. Raises BadHex."""
    code_bytes = data(code)
    is_delegated = code_bytes.startswith(DELEGATION)
    return AccountState(quantity(balance), bool(code_bytes) and not is_delegated, bool(code_bytes))
