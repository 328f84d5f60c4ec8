"""Code, balances and return values of contracts as they stood at one block.

Read by the block's hash (EIP-1898), so that a node which has moved to another fork, or one of
several behind a balancer, refuses a block it does not have rather than answer from its own.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex

log = logging.getLogger(__name__)

# A name() that makes its 10,000 characters in a loop takes 1.3 M; one that burns is bounded.
CALL_GAS = hex(3_000_000)


class BlockId(NamedTuple):
    number: int
    hash: bytes


class StateQuery(NamedTuple):
    """eth_call where there is call data, else eth_getCode."""

    address: bytes
    data: str | None
    block: BlockId


class StateReader:
    """Raises NodeError wherever the node does not have the state of the very block queried."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._takes_hashes = True

    def read(self, queries: Iterable[StateQuery]) -> dict[StateQuery, bytes | None]:
        """What contracts return, or their code; None where a call reverts.

        Where the node has pruned the state of a block, the latest state has to do.
        """
        unique = list(dict.fromkeys(queries))
        results = self._batch([(_method(q), _arguments(q), q.block) for q in unique])
        pruned = [
            index
            for index, result in enumerate(results)
            if isinstance(result, RpcError) and result.is_missing_state
        ]
        calls = [Call(_method(unique[n]), (*_arguments(unique[n]), "latest")) for n in pruned]
        for index, result in zip(pruned, self._node.batch(calls), strict=True):
            results[index] = result
        return {q: _bytes_or_revert(q, r) for q, r in zip(unique, results, strict=True)}

    def balances(self, addresses: Sequence[bytes], block: BlockId) -> list[int]:
        """In wei."""
        results = self._batch([("eth_getBalance", (to_hex(a),), block) for a in addresses])
        return [_balance(result) for result in results]

    def _batch(self, calls: Sequence[tuple[str, tuple[object, ...], BlockId]]) -> list[Any]:
        results = self._node.batch(
            [Call(method, (*arguments, self._block(block))) for method, arguments, block in calls]
        )
        errors = [result for result in results if isinstance(result, RpcError)]
        if self._takes_hashes and any(error.is_invalid_params for error in errors):
            log.info("the node takes no block hashes (EIP-1898); reading by number, then checking")
            self._takes_hashes = False
            return self._batch(calls)
        for error in errors:
            if error.is_missing_block or error.is_transient:
                raise NodeError(f"the node cannot read the state of a block now: {error}")
        if not self._takes_hashes:
            self._require_canonical({block for _, _, block in calls})
        return results

    def _block(self, block: BlockId) -> object:
        return {"blockHash": to_hex(block.hash)} if self._takes_hashes else hex(block.number)

    def _require_canonical(self, blocks: Iterable[BlockId]) -> None:
        """What was read by number was of these blocks if they are still the node's."""
        expected = list(blocks)
        headers = self._node.batch(
            [Call("eth_getBlockByNumber", (hex(block.number), False)) for block in expected]
        )
        for block, header in zip(expected, headers, strict=True):
            if not isinstance(header, dict) or header.get("hash") != to_hex(block.hash):
                raise NodeError(f"block {block.number} changed while its state was read")


def _method(query: StateQuery) -> str:
    return "eth_getCode" if query.data is None else "eth_call"


def _arguments(query: StateQuery) -> tuple[object, ...]:
    to = to_hex(query.address)
    if query.data is None:
        return (to,)
    return ({"to": to, "data": query.data, "gas": CALL_GAS},)


def _bytes_or_revert(query: StateQuery, result: Any) -> bytes | None:
    if isinstance(result, RpcError):
        if query.data is not None and not result.is_missing_state:
            return None
        raise NodeError(f"the node refuses {_method(query)}: {result}")
    try:
        return data(result)
    except BadHex as error:
        method = _method(query)
        raise NodeError(f"the node's answer to {method} is malformed: {error}") from error


def _balance(result: Any) -> int:
    if isinstance(result, RpcError):
        raise NodeError(f"the node refuses a balance: {result}")
    try:
        return quantity(result)
    except BadHex as error:
        raise NodeError(f"the node's answer to eth_getBalance is malformed: {error}") from error
