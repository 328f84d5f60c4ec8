"""Balance and code of an address at a block, asked of the node once and remembered."""

import threading
from collections import OrderedDict
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
        key = (address, block_hash)
        remembered = self._remembered.get(key)
        if remembered is not None:
            return remembered
        try:
            with self._places.place():
                state = _ask(self._node, address, block_number)
        except (NodeError, BadHex, Unavailable):
            return None
        if state is not None:
            self._remember(key, state)
        return state

    def _remember(self, key: tuple[bytes, bytes], state: AccountState) -> None:
        with self._lock:
            self._remembered[key] = state
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)


def _ask(node: Node, address: bytes, block_number: int) -> AccountState | None:
    block = hex(block_number)
    balance, code = node.once(
        [
            Call("eth_getBalance", (to_hex(address), block)),
            Call("eth_getCode", (to_hex(address), block)),
        ],
        TIMEOUT_S,
    )
    if isinstance(balance, RpcError) or isinstance(code, RpcError):
        return None
    code_bytes = data(code)
    return AccountState(
        quantity(balance), bool(code_bytes) and not code_bytes.startswith(DELEGATION)
    )
