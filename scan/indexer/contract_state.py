"""Code, balances and return values of contracts as they stood at one block."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import MAX_BATCH, Call, Node, NodeError, RpcError
from scan.ethereum.token_metadata import MAX_TEXT_BYTES, NAME, SYMBOL, cut_text
from scan.hex import BadHex, data, quantity, to_hex

__all__ = ["BlockId", "StateQuery", "StateReader"]

# A text of 10 kB that is made in a loop takes 1.4 M; one that burns, or fills memory to return it
# (1.2 MB for this gas), is bounded.
TEXT_GAS = hex(3_000_000)
WORD_GAS = hex(1_000_000)
# In one request: twenty tokens. Its memory is bounded by MAX_BYTES of answer, for one call or all;
# with 45 calls to a request, inspecting took 1.7 times as long.
CHUNK_CALLS = 180
MAX_BYTES = 5 * 512 * 1024  # whatever a call can return for its gas, in hex digits
MAX_TEXT_DIGITS = len("0x") + 2 * MAX_TEXT_BYTES
WORD_DIGITS = len("0x") + 2 * 32
# Chains allow 24,576 bytes (EIP-170) up to 2,097,120 (ZKsync); more is the node's fault.
MAX_CODE_BYTES = 2 * 1024 * 1024


class StateQuery(NamedTuple):
    """eth_call if there is call data, otherwise eth_getCode."""

    address: bytes
    data: str | None
    block: BlockId


class StateReader:
    """Raises NodeError wherever the node does not have the state of the very block queried."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def read(self, queries: Iterable[StateQuery]) -> dict[StateQuery, bytes | None]:
        """Return what results() yields, all at once."""
        return dict(self.results(queries))

    def results(self, queries: Iterable[StateQuery]) -> Iterator[tuple[StateQuery, bytes | None]]:
        """The results of calls, or code; None for a call that reverts.

        Of a text no more than MAX_TEXT_BYTES are kept, and of anything else that is called a word.
        Where the node has pruned the state of a block, the latest state has to do.
        """
        for chunk in _chunks(list(dict.fromkeys(queries))):
            results = self._read_chunk(chunk, [query.block for query in chunk])
            for result in results:
                _require_state(result)
            pruned = [
                index
                for index, result in enumerate(results)
                if isinstance(result, RpcError) and result.is_missing_state
            ]
            latest = self._read_chunk([chunk[n] for n in pruned], ["latest" for _ in pruned])
            for index, result in zip(pruned, latest, strict=True):
                results[index] = result
            yield from zip(chunk, map(_bytes_or_revert, chunk, results), strict=True)

    def balances(self, addresses: Sequence[bytes], block: BlockId) -> list[int]:
        """Return balances in wei."""
        calls = [Call("eth_getBalance", (to_hex(address), block)) for address in addresses]
        balances = []
        for result in map(_require_state, self._node.results(calls)):
            if isinstance(result, RpcError):
                raise NodeError(f"the node returned an error for a balance: {result}")
            try:
                balances.append(quantity(result))
            except BadHex as error:
                reason = f"the node's response to eth_getBalance is malformed: {error}"
                raise NodeError(reason) from error
        return balances

    def _read_chunk(self, queries: Sequence[StateQuery], blocks: Sequence[object]) -> list[Any]:
        """Too large results are dropped before the next response is read."""
        calls = [_call(query, block) for query, block in zip(queries, blocks, strict=True)]
        most_bytes = MAX_BYTES if queries and queries[0].data is not None else None
        results = self._node.results(calls, most_bytes=most_bytes)
        return list(map(_without_excess, queries, results))


def _chunks(queries: list[StateQuery]) -> Iterator[list[StateQuery]]:
    """Separates calls and codes, since their responses have different limits."""
    calls = [query for query in queries if query.data is not None]
    codes = [query for query in queries if query.data is None]
    for group, size in ((calls, CHUNK_CALLS), (codes, MAX_BATCH)):
        for start in range(0, len(group), size):
            yield group[start : start + size]


def _require_state(result: Any) -> Any:
    if isinstance(result, RpcError) and (result.is_missing_block or result.is_transient):
        raise NodeError(f"the node cannot read the state of a block now: {result}")
    return result


def _without_excess(query: StateQuery, result: Any) -> Any:
    """A contract's result or revert, without values that are too large to keep."""
    if query.data is None:
        return result
    if isinstance(result, RpcError):
        return RpcError(result.code, result.message)
    if not isinstance(result, str) or len(result) <= WORD_DIGITS:
        return result
    if query.data not in (NAME, SYMBOL):
        return result[:WORD_DIGITS]
    return result if len(result) <= MAX_TEXT_DIGITS else to_hex(cut_text(_data(query, result)))


def _method(query: StateQuery) -> str:
    return "eth_getCode" if query.data is None else "eth_call"


def _call(query: StateQuery, block: object) -> Call:
    to = to_hex(query.address)
    if query.data is None:
        return Call("eth_getCode", (to, block))
    gas = TEXT_GAS if query.data in (NAME, SYMBOL) else WORD_GAS
    return Call("eth_call", ({"to": to, "data": query.data, "gas": gas}, block))


def _bytes_or_revert(query: StateQuery, result: Any) -> bytes | None:
    if isinstance(result, RpcError):
        if query.data is not None and not result.is_missing_state:
            return None
        raise NodeError(f"the node returned an error for {_method(query)}: {result}")
    content = _data(query, result)
    if query.data is None and len(content) > MAX_CODE_BYTES:
        raise NodeError(f"the node's response to eth_getCode is malformed: {len(content)} bytes")
    return content


def _data(query: StateQuery, result: Any) -> bytes:
    try:
        return data(result)
    except BadHex as error:
        method = _method(query)
        raise NodeError(f"the node's response to {method} is malformed: {error}") from error
