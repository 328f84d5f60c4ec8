"""The state of contracts, read from a node at a block: calls, code and balances.

What a contract returns is bounded, and one whose calls fail alone holds up no other for long.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from scan.ethereum import client
from scan.ethereum.events import ZERO_ADDRESS
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import MAX_TEXT_BYTES, NAME, SYMBOL, cut_text
from scan.hex import BadHex, data, quantity, to_hex
from scan.indexer.node_reader import settled

log = logging.getLogger(__name__)

# The gas of a call that returns a text. A text of 10 kB that is made in a loop takes 1.4 M. A call
# that burns gas is bounded by it, as is one that fills memory to return it (1.2 MB).
TEXT_GAS, WORD_GAS = 3_000_000, 1_000_000
# The gas of a call that a block waits for, of a contract that shares none with others.
MOST_CALL_GAS = 500_000
# Calls in one request, enough for fifteen tokens. MAX_BYTES bounds the answer to it, for one call
# or all. With 45 calls to a request, inspecting took 1.7 times as long.
CHUNK_CALLS = 180
MAX_BYTES = 5 * 512 * 1024  # the most that a call can return for its gas, as hex digits
MAX_TEXT_DIGITS = len("0x") + 2 * MAX_TEXT_BYTES
WORD_DIGITS = len("0x") + 2 * 32
# Chains allow 24,576 bytes (EIP-170), 65,536 (EIP-7954) up to 2,097,120 (ZKsync); more is the
# node's fault.
MAX_CODE_BYTES = 2 * 1024 * 1024
# How long a contract's calls fail, while others are answered, until it counts as one that refuses,
# and until it is called again: the longer, the more of them there are.
UNREADABLE_AFTER_S, READ_AGAIN_S = 120.0, 600.0
COMPARED_TIMEOUT_S = 5.0  # of the call that shows whether the node fails
MAX_UNREADABLE = 1000  # contracts; of more, the node is at fault


class StateQuery(NamedTuple):
    """A query of a contract at a block: eth_call with `data`, or eth_getCode without it.

    `is_of_block_only`: where the state is pruned, it counts as refused. `gas`: of a call that has
    less than its kind, see contract_state.shared_gas()."""

    address: bytes
    data: str | None
    block: BlockId
    is_of_block_only: bool = False
    gas: int | None = None

    @property
    def method(self) -> str:
        return "eth_getCode" if self.data is None else "eth_call"


class _Failure(NamedTuple):
    """The time since when a contract's calls fail, and until when it is not called."""

    since: float
    rests_until: float = 0.0


class StateReader:
    """A reader of state. Its methods raise NodeError where the node lacks the queried block, or
    fails.

    A contract whose calls alone fail stops nobody for ever: after `patience_s` it is unreadable for
    a while, and its calls count as refused, if another one still answers: else it is the node that
    fails. Who stores what it answers reads it again later.
    """

    def __init__(self, node: client.Node, patience_s: float | None = None) -> None:
        self._node = node
        self._patience_s = UNREADABLE_AFTER_S if patience_s is None else patience_s
        self._failures: dict[tuple[bytes, str], _Failure] = {}  # by address and method
        self._answered: StateQuery | None = None  # the last call that returned data

    @property
    def unreadable(self) -> set[bytes]:
        """The contracts whose calls count as refused now."""
        now = time.monotonic()
        failures = self._failures.copy().items()  # which another thread may add to
        return {address for (address, _), failure in failures if failure.rests_until > now}

    def read(self, queries: Iterable[StateQuery]) -> dict[StateQuery, bytes | None]:
        """Return the results of all queries at once, as results() yields them."""
        all_queries = [*queries]
        return dict(self.results(all_queries)) if all_queries else {}

    def results(self, queries: Iterable[StateQuery]) -> Iterator[tuple[StateQuery, bytes | None]]:
        """Yield each distinct query with its result: None if it is refused, or the code.

        A text is cut to MAX_TEXT_BYTES, and any other call's result to a word. Where the node has
        pruned the state of a block, the latest state is read instead.
        """
        distinct = list(dict.fromkeys(queries))
        # Calls and code are separate: their bounds differ.
        calls = [query for query in distinct if query.data is not None]
        codes = [query for query in distinct if query.data is None]
        for group, size in ((calls, CHUNK_CALLS), (codes, client.MAX_BATCH)):
            for start in range(0, len(group), size):
                chunk = group[start : start + size]
                results = self._parted(chunk)
                yield from ((query, results[query]) for query in chunk)

    def _parted(self, chunk: Sequence[StateQuery]) -> dict[StateQuery, bytes | None]:
        """Return the results of a chunk. Contracts that fail are read alone, also where they did
        before: one that lets time-outs pass would do so for all."""
        together = [query for query in chunk if (query.address, query.method) not in self._failures]
        results: dict[StateQuery, bytes | None] = {}
        try:
            results |= self._settled(together)
        except client.NodeError as error:
            self._require_answers(chunk[0].block, error)
        alone = defaultdict[bytes, list[StateQuery]](list)
        for query in chunk:
            if query not in results:
                alone[query.address].append(query)
        failure: client.NodeError | None = None
        for of_contract in alone.values():
            try:
                results |= self._read_alone(of_contract)
            except client.StateUnavailable as error:  # after all others have begun to fail, too
                failure = failure or error
        if failure is not None:
            raise failure
        return results

    def _read_alone(self, queries: Sequence[StateQuery]) -> dict[StateQuery, bytes | None]:
        """Return the results for one contract. Raises NodeError where the node fails, and
        StateUnavailable where it does for this contract alone."""
        address, _, block, *_ = queries[0]
        key = address, queries[0].method
        failure = self._failures.get(key)
        began = time.monotonic()
        if failure is not None and began < failure.rests_until:
            return dict.fromkeys(queries)
        try:
            results = self._settled(queries)
        except client.NodeError as error:
            self._require_answers(block, error)
            name = f"{key[1]} of contract {to_hex(address)}"
            since = failure.since if failure else began
            is_late = key[1] == "eth_call" and began - since >= self._patience_s
            is_given_up = is_late and self._another_answers(address)
            if failure or len(self._failures) < MAX_UNREADABLE:
                rest_s = READ_AGAIN_S * (len(self._failures) + 1) if is_given_up else 0.0
                self._failures[key] = _Failure(since, rest_s and began + rest_s)
                if is_given_up:
                    log.warning("%s is taken as refused: %s", name, error)
                    return dict.fromkeys(queries)
            raise client.StateUnavailable(f"{name} fails: {error}") from error
        self._failures.pop(key, None)
        return results

    def _require_answers(self, block: BlockId, failure: client.NodeError) -> None:
        """Raise the failure where the node fails at a call without code, too."""
        if isinstance(failure, client.RateLimited):
            raise failure
        call = client.Call("eth_call", ({"to": to_hex(ZERO_ADDRESS), "data": "0x"}, block))
        with suppress(client.NodeError, BadHex):
            [result] = self._node.results([call], COMPARED_TIMEOUT_S)
            if _is_pruned(result) or data(result) == b"":
                return
        raise failure

    def _another_answers(self, address: bytes) -> bool:
        """Return whether the node still answers for the contract that returned data last."""
        other = self._answered
        if other is None or other.address == address:
            return False
        sent = {"to": to_hex(other.address), "data": other.data, "gas": hex(TEXT_GAS)}
        with suppress(client.NodeError, BadHex):
            call = client.Call("eth_call", (sent, "latest"))
            [result] = self._node.results([call], COMPARED_TIMEOUT_S, MAX_BYTES)
            return len(data(result)) > 0
        return False

    def _settled(self, queries: Sequence[StateQuery]) -> dict[StateQuery, bytes | None]:
        results = settled(self._node, partial(_chunk_results, queries)) if queries else ()
        answered = dict(zip(queries, results, strict=True))
        with_data = (query for query in queries if query.data and answered[query])
        self._answered = next(with_data, self._answered)
        return answered

    def balances(self, addresses: Sequence[bytes], block: BlockId) -> list[int]:
        """Return the balances of addresses in wei, in their order."""
        return settled(self._node, partial(_balances, addresses, block))


def _balances(addresses: Sequence[bytes], block: BlockId, node: client.Node) -> list[int]:
    calls = [client.Call("eth_getBalance", (to_hex(address), block)) for address in addresses]
    balances = []
    for result in node.results(calls):
        if isinstance(result, client.RpcError):
            raise client.NodeError(f"the node returned an error for a balance: {result}")
        try:
            balances.append(quantity(result))
        except BadHex as error:
            raise _malformed("eth_getBalance", error) from error
    return balances


def _chunk_results(chunk: Sequence[StateQuery], node: client.Node) -> list[bytes | None]:
    results = _read_chunk(node, chunk, [query.block for query in chunk])
    pruned = [
        index
        for index, result in enumerate(results)
        if _is_pruned(result) and not chunk[index].is_of_block_only
    ]
    latest = _read_chunk(node, [chunk[n] for n in pruned], ["latest" for _ in pruned])
    for index, result in zip(pruned, latest, strict=True):
        results[index] = result
    # A contract that has less gas is unread where it answers nothing, and is read later.
    full = (n for n, query in enumerate(chunk) if (query.gas or MOST_CALL_GAS) >= MOST_CALL_GAS)
    errors = ((n, results[n]) for n in full if isinstance(results[n], client.RpcError))
    if doubtful := [n for n, error in errors if error.is_doubtful]:
        control = StateQuery(ZERO_ADDRESS, "0x", chunk[0].block)
        places = ["latest", *("latest" if n in pruned else chunk[n].block for n in doubtful)]
        answered, *again = _read_chunk(node, [control, *(chunk[n] for n in doubtful)], places)
        if isinstance(answered, client.RpcError):
            raise client.StateUnavailable(f"the node fails at a call without code: {answered}")
        for index, result in zip(doubtful, again, strict=True):
            results[index] = result
    return [*map(_bytes_or_refusal, chunk, results)]


def _read_chunk(
    node: client.Node, queries: Sequence[StateQuery], blocks: Sequence[object]
) -> list[Any]:
    """Return the results of queries at blocks. Results are cut before the next response is read."""
    calls = []
    for query, block in zip(queries, blocks, strict=True):
        called: object = to_hex(query.address)
        if query.data is not None:
            gas = TEXT_GAS if query.data in (NAME, SYMBOL) else WORD_GAS
            called = {"to": called, "data": query.data, "gas": hex(query.gas or gas)}
        calls.append(client.Call(query.method, (called, block)))
    most_bytes = MAX_BYTES if queries and queries[0].data is not None else None
    return list(map(_without_excess, queries, node.results(calls, most_bytes=most_bytes)))


def _is_pruned(result: object) -> bool:
    return isinstance(result, client.RpcError) and result.is_missing_state


def _without_excess(query: StateQuery, result: Any) -> Any:
    """Return a result cut to what is kept of it, and an error without its data."""
    if query.data is None:
        return result
    if isinstance(result, client.RpcError):
        return result if result.data is None else client.RpcError(result.code, result.words)
    if not isinstance(result, str) or len(result) <= WORD_DIGITS:
        return result
    if query.data not in (NAME, SYMBOL):
        return result[:WORD_DIGITS]
    return result if len(result) <= MAX_TEXT_DIGITS else to_hex(cut_text(_data(query, result)))


def _bytes_or_refusal(query: StateQuery, result: Any) -> bytes | None:
    if isinstance(result, client.RpcError):
        if (query.data is not None and result.is_refusal) or _is_pruned(result):
            return None
        raise client.StateUnavailable(f"the node returned an error for {query.method}: {result}")
    content = _data(query, result)
    if query.data is None and len(content) > MAX_CODE_BYTES:
        raise _malformed(query.method, f"{len(content)} bytes")
    return content


def _data(query: StateQuery, result: Any) -> bytes:
    try:
        return data(result)
    except BadHex as error:
        raise _malformed(query.method, error) from error


def _malformed(method: str, reason: object) -> client.MalformedResponse:
    return client.MalformedResponse(f"the node's response to {method} is malformed: {reason}")
