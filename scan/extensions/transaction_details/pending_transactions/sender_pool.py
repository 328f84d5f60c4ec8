"""The transactions of a sender in the node's pool."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.extensions.transaction_details.pending_transactions.node_transaction import (
    MOST_BYTES,
    PendingTransaction,
    parsed,
)
from scan.hex import BadHex, quantity, to_hex

MAX_SEARCHED = 2_000  # transactions in the pool of a node that does not list those of one sender
MOST_POOL_BYTES = 4 * 1024 * 1024
STATES = ("pending", "queued")
NO_POOL = "The node does not offer its transaction pool (txpool)."
TOO_LARGE = "The node's answer is too large."


class SenderPool(NamedTuple):
    """A sender's transactions in the order of their nonces, or why they are not known."""

    transactions: list[PendingTransaction]
    reason: str | None = None

    def with_nonce(self, nonce: int) -> PendingTransaction | None:
        return next((sent for sent in self.transactions if sent.nonce == nonce), None)

    def missing_nonce(self, first: int) -> int:
        """Return the first nonce from `first` on that none of the transactions has."""
        nonces = {sent.nonce for sent in self.transactions}
        return next(nonce for nonce in count(first) if nonce not in nonces)


def read_pool(node: NodeSession, address: bytes) -> SenderPool:
    """Read the transactions of a sender, of a node without txpool_contentFrom from its whole pool
    where that is small. Raises the errors of NodeSession."""
    [answer] = node.results([Call("txpool_contentFrom", (to_hex(address),))], MOST_BYTES)
    if isinstance(answer, AnswerTooLarge):
        return SenderPool([], TOO_LARGE)
    if isinstance(answer, RpcError):
        return _searched(node, address)
    return _of_sender(answer, address)


def _searched(node: NodeSession, address: bytes) -> SenderPool:
    """Search the node's whole pool."""
    [status] = node.results([Call("txpool_status", ())], MOST_BYTES)
    try:
        size = sum(quantity(status[state]) for state in STATES)
    except (BadHex, KeyError, TypeError):
        return SenderPool([], NO_POOL)
    if size > MAX_SEARCHED:
        return SenderPool(
            [],
            f"The node does not list a sender's transactions, and its pool is not searched above"
            f" {MAX_SEARCHED:,} transactions.",
        )
    [content] = node.results([Call("txpool_content", ())], MOST_POOL_BYTES)
    if isinstance(content, AnswerTooLarge):
        return SenderPool([], TOO_LARGE)
    if not isinstance(content, dict):
        return SenderPool([], NO_POOL)
    own = to_hex(address)
    return _of_sender({state: _of_key(content.get(state), own) for state in STATES}, address)


def _of_key(by_sender: Any, own: str) -> Any:
    """Return the value of an address, in any case of letters."""
    if not isinstance(by_sender, dict):
        return None
    return next((value for key, value in by_sender.items() if key.lower() == own), {})


def _of_sender(answer: Any, address: bytes) -> SenderPool:
    if not isinstance(answer, dict):
        return SenderPool([], NO_POOL)
    pool = [sent for sent in _listed(answer) if sent.from_address == address]
    return SenderPool(sorted(pool, key=lambda sent: sent.nonce))


def _listed(answer: Mapping[str, Any]) -> Iterator[PendingTransaction]:
    """Yield the transactions that are well-formed, with whether they are queued."""
    for state in STATES:
        by_nonce = answer.get(state)
        for value in by_nonce.values() if isinstance(by_nonce, dict) else ():
            if (sent := parsed(value)) is not None:
                yield sent._replace(is_queued=state == "queued")
