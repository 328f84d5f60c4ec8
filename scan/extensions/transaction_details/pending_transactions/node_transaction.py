"""Transactions that the node has and the index has not, most of which wait for their block."""

from typing import Any, NamedTuple

from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.hex import BadHex, data, quantity, quantity_or_none, to_hex

MOST_BYTES = 1024 * 1024
MAX_UINT64 = 2**64 - 1  # of nonces and gas limits (EIP-2681, EIP-1985)


class PendingTransaction(NamedTuple):
    """A transaction as the node has it; amounts in wei. `block_number` is None while no block has
    it. `next_nonce` is its sender's next nonce, None where the node does not give it."""

    hash: bytes
    block_number: int | None
    from_address: bytes
    to_address: bytes | None
    value: int
    nonce: int
    next_nonce: int | None
    gas_limit: int
    max_fee_per_gas: int  # the gas price of transactions before EIP-1559
    max_priority_fee_per_gas: int | None
    type: int
    input: bytes

    @property
    def highest_fee(self) -> int:
        return self.gas_limit * self.max_fee_per_gas

    @property
    def earlier_nonces(self) -> int | None:
        """The number of its sender's transactions that have to be mined before it; negative where
        another with its nonce was mined; None where the next nonce is unknown."""
        return None if self.next_nonce is None else self.nonce - self.next_nonce


def read_pending(node: NodeSession, transaction_hash: bytes) -> PendingTransaction | None:
    """Return the transaction; None where the node does not have it, or its JSON is malformed.
    Raises the errors of NodeSession."""
    [answer] = node.results(
        [Call("eth_getTransactionByHash", (to_hex(transaction_hash),))], MOST_BYTES
    )
    if answer is None or isinstance(answer, RpcError):
        return None
    sent = _parsed(answer)
    if sent is None or sent.hash != transaction_hash:
        return None
    return sent._replace(next_nonce=next_nonce_of(node, sent.from_address))


def read_pool(node: NodeSession, address: bytes) -> list[PendingTransaction] | None:
    """Return the transactions of a sender in the node's pool, in the order of their nonces; None
    where the node does not offer its pool. Raises the errors of NodeSession."""
    [answer] = node.results([Call("txpool_contentFrom", (to_hex(address),))], MOST_BYTES)
    if not isinstance(answer, dict):
        return None
    of_state = [answer.get(state) for state in ("pending", "queued")]
    listed = [
        value for by_nonce in of_state if isinstance(by_nonce, dict) for value in by_nonce.values()
    ]
    pool = [sent for sent in map(_parsed, listed) if sent and sent.from_address == address]
    return sorted(pool, key=lambda sent: sent.nonce)


def _parsed(answer: Any) -> PendingTransaction | None:
    """Return the transaction in a node's JSON, without the sender's next nonce; None where it is
    malformed."""
    try:
        to = answer.get("to")
        price = answer.get("maxFeePerGas") or answer.get("gasPrice")
        sent = PendingTransaction(
            hash=data(answer["hash"], 32),
            block_number=quantity_or_none(answer.get("blockNumber")),
            from_address=data(answer["from"], 20),
            to_address=None if to is None else data(to, 20),
            value=quantity(answer["value"]),
            nonce=quantity(answer["nonce"]),
            next_nonce=None,
            gas_limit=quantity(answer["gas"]),
            max_fee_per_gas=quantity(price),
            max_priority_fee_per_gas=quantity_or_none(answer.get("maxPriorityFeePerGas")),
            type=quantity(answer.get("type") or "0x0"),
            input=data(answer["input"]),
        )
    except (BadHex, KeyError, TypeError, AttributeError):
        return None
    if max(sent.nonce, sent.gas_limit) > MAX_UINT64:
        return None
    return sent


def next_nonce_of(node: NodeSession, address: bytes) -> int | None:
    """Return the nonce of an address's next transaction; None where the node does not give it.
    Raises the errors of NodeSession."""
    call = Call("eth_getTransactionCount", (to_hex(address), "latest"))
    [answer] = node.results([call], MOST_BYTES)
    try:
        nonce = quantity(answer)
    except BadHex:
        return None
    return nonce if nonce <= MAX_UINT64 else None
