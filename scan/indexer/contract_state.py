"""Code, balances and return values of contracts as they stood at one block.

Read by the block's hash (EIP-1898), so that a node which has moved to another fork, or one of
several behind a balancer, refuses a block it does not have rather than answer from its own.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from scan.ethereum.client import MAX_BATCH, AnswerTooLarge, Call, Node, NodeError, RpcError
from scan.ethereum.token_metadata import NAME, SYMBOL
from scan.hex import BadHex, data, quantity, to_hex

log = logging.getLogger(__name__)

# A name() that makes its 4,096 bytes in a loop takes 0.55 M; one that burns, or fills memory to
# return it (0.7 MB for this gas, 1.2 MB for 3 M), is bounded.
CALL_GAS = hex(1_000_000)
# In one request: twenty tokens. Its memory is bounded by MOST_BYTES of answer, for one call or all;
# with 45 calls to a request, inspecting took 1.7 times as long.
CHUNK_CALLS = 180
MOST_BYTES = 1024 * 1024
MAX_TEXT_BYTES = 4096
MAX_TEXT_DIGITS = len("0x") + 2 * MAX_TEXT_BYTES
WORD_BYTES = 32
# Chains allow 24,576 bytes (EIP-170) up to 2,097,120 (ZKsync); more is the node's fault.
MAX_CODE_BYTES = 2 * 1024 * 1024


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
        """As results(), all at once."""
        return dict(self.results(queries))

    def results(self, queries: Iterable[StateQuery]) -> Iterator[tuple[StateQuery, bytes | None]]:
        """What contracts return, or their code; None where a call reverts.

        More than MAX_TEXT_BYTES counts as reverted, and of a word no more than WORD_BYTES is kept.
        Where the node has pruned the state of a block, the latest state has to do.
        """
        for chunk in _chunks(list(dict.fromkeys(queries))):
            most_bytes = MOST_BYTES if chunk[0].data is not None else None
            results = self._batch([(_method(q), _arguments(q), q.block) for q in chunk], most_bytes)
            self._read_pruned(chunk, results, most_bytes)
            yield from zip(chunk, map(_bytes_or_revert, chunk, results), strict=True)

    def _read_pruned(
        self, queries: Sequence[StateQuery], results: list[Any], most_bytes: int | None
    ) -> None:
        pruned = [
            index
            for index, result in enumerate(results)
            if isinstance(result, RpcError) and result.is_missing_state
        ]
        calls = [Call(_method(queries[n]), (*_arguments(queries[n]), "latest")) for n in pruned]
        for index, result in zip(pruned, self._results(calls, most_bytes), strict=True):
            results[index] = result

    def balances(self, addresses: Sequence[bytes], block: BlockId) -> list[int]:
        """In wei."""
        results = self._batch([("eth_getBalance", (to_hex(a),), block) for a in addresses])
        return [_balance(result) for result in results]

    def _batch(
        self,
        calls: Sequence[tuple[str, tuple[object, ...], BlockId]],
        most_bytes: int | None = None,
    ) -> list[Any]:
        results = self._results(
            [Call(method, (*arguments, self._block(block))) for method, arguments, block in calls],
            most_bytes,
        )
        errors = [result for result in results if isinstance(result, RpcError)]
        if self._takes_hashes and any(error.is_invalid_params for error in errors):
            log.info("the node takes no block hashes (EIP-1898); reading by number, then checking")
            self._takes_hashes = False
            return self._batch(calls, most_bytes)
        for error in errors:
            if error.is_missing_block or error.is_transient:
                raise NodeError(f"the node cannot read the state of a block now: {error}")
        if not self._takes_hashes:
            self._require_canonical({block for _, _, block in calls})
        return results

    def _results(self, calls: Sequence[Call], most_bytes: int | None) -> list[Any]:
        """What is too large is let go as it comes, before the next answer is read."""
        results = self._node.results(calls, most_bytes=most_bytes)
        return list(results) if most_bytes is None else list(map(_without_excess, results))

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


def _chunks(queries: list[StateQuery]) -> Iterator[list[StateQuery]]:
    """Calls and codes apart, since their answers are bounded apart."""
    calls = [query for query in queries if query.data is not None]
    codes = [query for query in queries if query.data is None]
    for group, size in ((calls, CHUNK_CALLS), (codes, MAX_BATCH)):
        for start in range(0, len(group), size):
            yield group[start : start + size]


def _without_excess(result: Any) -> Any:
    """What a contract returned, or how it reverted, without anything that is too large to keep."""
    if isinstance(result, RpcError):
        return RpcError(result.code, result.message)
    if isinstance(result, str) and len(result) > MAX_TEXT_DIGITS:
        return AnswerTooLarge(0, f"more than {MAX_TEXT_BYTES} bytes were returned")
    return result


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
        return _bounded(query, data(result))
    except BadHex as error:
        method = _method(query)
        raise NodeError(f"the node's answer to {method} is malformed: {error}") from error


def _bounded(query: StateQuery, found: bytes) -> bytes:
    if query.data is None:
        if len(found) > MAX_CODE_BYTES:
            raise BadHex(f"{len(found)} bytes of code")
        return found
    return found if query.data in (NAME, SYMBOL) else found[:WORD_BYTES]


def _balance(result: Any) -> int:
    if isinstance(result, RpcError):
        raise NodeError(f"the node refuses a balance: {result}")
    try:
        return quantity(result)
    except BadHex as error:
        raise NodeError(f"the node's answer to eth_getBalance is malformed: {error}") from error
