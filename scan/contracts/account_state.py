"""Balance and code of an address at a block, asked of the node once and remembered."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex
from scan.rate_limits.concurrency import ConcurrencyLimit

TIMEOUT_S = 0.5
MOST_AT_ONCE = 8
MOST_REMEMBERED = 10_000


class AccountState(NamedTuple):
    """What the node returns for an address at a block; balance in wei."""

    balance: int
    is_contract: bool


class AccountStates:
    """Balance and code at blocks by their hash: asked once for each address and block."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._places = ConcurrencyLimit(MOST_AT_ONCE, busy="Too many ask the node for balances.")
        self._lock = threading.Lock()
        self._remembered: OrderedDict[tuple[bytes, bytes], AccountState] = OrderedDict()

    def at(self, address: bytes, block_number: int, block_hash: bytes) -> AccountState | None:
        """None when the node has no valid answer within TIMEOUT_S, or too many are asking."""
        return self.all_at([address], block_number, block_hash).get(address)

    def all_at(
        self, addresses: Sequence[bytes], block_number: int, block_hash: bytes
    ) -> dict[bytes, AccountState]:
        """By address, in one batch; those are missing that at() would return None for."""
        known = {address: self._remembered.get((address, block_hash)) for address in addresses}
        found = {address: state for address, state in known.items() if state is not None}
        missing = [address for address in known if address not in found]
        if not missing:
            return found
        try:
            with self._places.place():
                asked = _ask(self._node, missing, block_number)
        except (NodeError, BadHex, Unavailable):
            return found
        for address, state in asked.items():
            self._remember((address, block_hash), state)
        return found | asked

    def _remember(self, key: tuple[bytes, bytes], state: AccountState) -> None:
        with self._lock:
            self._remembered[key] = state
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)


def _ask(node: Node, addresses: Sequence[bytes], block_number: int) -> dict[bytes, AccountState]:
    block = hex(block_number)
    calls = [
        Call(method, (to_hex(address), block))
        for address in addresses
        for method in ("eth_getBalance", "eth_getCode")
    ]
    results = node.once(calls, TIMEOUT_S)
    return {
        address: _state(balance, code)
        for address, balance, code in zip(addresses, results[::2], results[1::2], strict=True)
        if not isinstance(balance, RpcError) and not isinstance(code, RpcError)
    }


def _state(balance: object, code: object) -> AccountState:
    code_bytes = data(code)
    return AccountState(
        quantity(balance), bool(code_bytes) and not code_bytes.startswith(DELEGATION)
    )
