"""Contracts as the indexer knows them: code, balances and return values, read from the node at a
block, and what their inspection finds, as the writer takes it.

A token has lives: its contract or delegation may end and begin anew, and be of another type.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scan.ethereum import client, token_metadata
from scan.ethereum.events import ZERO_ADDRESS, Trade, WrapClaim
from scan.ethereum.served_chain import BlockId as BlockId
from scan.ethereum.token_metadata import MAX_TEXT_BYTES, NAME, SYMBOL, cut_text
from scan.hex import BadHex, data, quantity, to_hex
from scan.indexer.block_rows import BlockContracts
from scan.indexer.node_reader import settled

# The gas of a call that returns a text. A text of 10 kB that is made in a loop takes 1.4 M. A call
# that burns gas is bounded by it, as is one that fills memory to return it (1.2 MB).
TEXT_GAS = hex(3_000_000)
WORD_GAS = hex(1_000_000)
# Calls in one request, enough for fifteen tokens. MAX_BYTES bounds the answer to it, for one call
# or all. With 45 calls to a request, inspecting took 1.7 times as long.
CHUNK_CALLS = 180
MAX_BYTES = 5 * 512 * 1024  # the most that a call can return for its gas, as hex digits
MAX_TEXT_DIGITS = len("0x") + 2 * MAX_TEXT_BYTES
WORD_DIGITS = len("0x") + 2 * 32
# Chains allow 24,576 bytes (EIP-170), 65,536 (EIP-7954) up to 2,097,120 (ZKsync); more is the
# node's fault.
MAX_CODE_BYTES = 2 * 1024 * 1024


class StateQuery(NamedTuple):
    """A query of a contract at a block: eth_call with `data`, or eth_getCode without it.

    `is_of_block_only`: where the state is pruned, it counts as refused."""

    address: bytes
    data: str | None
    block: BlockId
    is_of_block_only: bool = False

    @property
    def method(self) -> str:
        return "eth_getCode" if self.data is None else "eth_call"


def is_reading_due(number: int, first: int, last: int) -> bool:
    """Return whether a contract that emits in a block is to be read again, after the first and the
    last block in which it was: 1, 8, 64, 512 … blocks after the first."""
    return number > last and number - first >= 8 * (last - first)


Factories = dict[bytes, str]  # names of well-known exchanges


def load_factories(chain_id: int) -> Factories:
    """Return well-known exchange factories of a chain, by address."""
    text = Path(__file__).with_name("dex_factories.json").read_text(encoding="utf-8")
    by_chain = json.loads(text)
    return {data(address): name for address, name in by_chain.get(str(chain_id), {}).items()}


def pool_fields(
    family: str, pool: bytes, block: BlockId, results: Mapping[StateQuery, bytes | None]
) -> tuple[tuple[bytes, bytes] | None, bytes, int]:
    """Return a pool's tokens, None if it has none, its factory, and its fee or whether it is
    stable."""
    *addresses, variant = (
        results[StateQuery(pool, data, block)] for data in token_metadata.pool_calls(family)
    )
    token0, token1, factory = map(token_metadata.address, addresses)
    tokens = None if token0 is None or token1 is None else (token0, token1)
    return tokens, factory or ZERO_ADDRESS, token_metadata.word(variant) or 0


def token_queries(address: bytes, block: BlockId) -> list[StateQuery]:
    """Return the queries of TOKEN_CALLS."""
    return [StateQuery(address, data, block) for data in token_metadata.TOKEN_CALLS]


def block_id(block: BlockContracts) -> BlockId:
    return BlockId(block.number, block.hash)


def claimed_balances(block: BlockContracts, token: bytes, claim: WrapClaim) -> list[StateQuery]:
    """Return the queries of the claim's party's balance before and after the block."""
    data = token_metadata.balance_of(claim.party)
    before = BlockId(block.number - 1, block.parent_hash)
    return [StateQuery(token, data, at, is_of_block_only=True) for at in (before, block_id(block))]


class StateReader:
    """A reader of state. Its methods raise NodeError where the node lacks the queried block."""

    def __init__(self, node: client.Node) -> None:
        self._node = node

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
                read = partial(_chunk_results, chunk)
                yield from zip(chunk, settled(self._node, read), strict=True)

    def balances(self, addresses: Sequence[bytes], block: BlockId) -> list[int]:
        """Return the balances of addresses in wei, in their order."""
        return settled(self._node, partial(_balances, addresses, block))


def _balances(addresses: Sequence[bytes], block: BlockId, node: client.Node) -> list[int]:
    calls = [client.Call("eth_getBalance", (to_hex(address), block)) for address in addresses]
    balances = []
    for result in map(_require_state, node.results(calls)):
        if isinstance(result, client.RpcError):
            raise client.NodeError(f"the node returned an error for a balance: {result}")
        try:
            balances.append(quantity(result))
        except BadHex as error:
            raise _malformed("eth_getBalance", error) from error
    return balances


def _chunk_results(chunk: Sequence[StateQuery], node: client.Node) -> list[bytes | None]:
    results = _read_chunk(node, chunk, [query.block for query in chunk])
    pruned = []
    for index, result in enumerate(map(_require_state, results)):
        if isinstance(result, client.RpcError) and (result.is_missing_state or result.is_pruned):
            if chunk[index].is_of_block_only:
                results[index] = None
            else:
                pruned.append(index)
    latest = _read_chunk(node, [chunk[n] for n in pruned], ["latest" for _ in pruned])
    for index, result in zip(pruned, latest, strict=True):
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
            called = {"to": called, "data": query.data, "gas": gas}
        calls.append(client.Call(query.method, (called, block)))
    most_bytes = MAX_BYTES if queries and queries[0].data is not None else None
    return list(map(_without_excess, queries, node.results(calls, most_bytes=most_bytes)))


def _require_state(result: Any) -> Any:
    if not isinstance(result, client.RpcError) or result.is_pruned:
        return result
    if result.is_missing_block or result.is_transient:
        raise client.NodeError(f"the node cannot read the state of a block now: {result}")
    return result


def _without_excess(query: StateQuery, result: Any) -> Any:
    """Return a result cut to what is kept of it, and an error without its data."""
    if query.data is None:
        return result
    if isinstance(result, client.RpcError):
        return result if result.data is None else client.RpcError(result.code, result.message)
    if not isinstance(result, str) or len(result) <= WORD_DIGITS:
        return result
    if query.data not in (NAME, SYMBOL):
        return result[:WORD_DIGITS]
    return result if len(result) <= MAX_TEXT_DIGITS else to_hex(cut_text(_data(query, result)))


def _bytes_or_refusal(query: StateQuery, result: Any) -> bytes | None:
    if result is None and query.is_of_block_only:
        return None
    if isinstance(result, client.RpcError):
        if query.data is not None and result.is_refusal:
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


class ContractCode(NamedTuple):
    """The code of an address since a block; none where its contract destroyed itself."""

    address: bytes
    block_number: int
    code_hash: bytes | None
    code: bytes


class NewToken(NamedTuple):
    address: bytes
    block_number: int
    log_index: int
    type: str
    name: str
    symbol: str
    decimals: int | None
    total_supply: int | None
    item_type: str | None
    is_first: bool  # whether the token had no life before


class TokenEnd(NamedTuple):
    """The end of a token's life: its contract or delegation ended in a block, or has another type
    from it on. Name and numbers are those before that block."""

    address: bytes
    block_number: int
    end_block: int  # the first one whose events are not of that life
    name: str
    symbol: str
    decimals: int | None
    total_supply: int | None


class NewWrapper(NamedTuple):
    """A token whose Deposits and Withdrawals mint and burn, from a block on."""

    address: bytes
    block_number: int


class ContractChange(NamedTuple):
    """A block after a token's first event in which what it answers may have changed."""

    address: bytes
    block_number: int


class NewPool(NamedTuple):
    address: bytes
    block_number: int
    dex: str
    token0: bytes
    token1: bytes


class RejectedEmitter(NamedTuple):
    address: bytes
    claim: str
    block_number: int


class PoolTrade(NamedTuple):
    block_number: int
    row: str  # as SwapLog has it
    dex: str
    trade: Trade


class ContractFindings(NamedTuple):
    """The rows of a batch of blocks besides blocks and transactions."""

    codes: list[ContractCode]
    tokens: list[NewToken]
    wrappers: list[NewWrapper]
    pools: list[NewPool]
    rejections: list[RejectedEmitter]
    transfers: list[tuple[int, str]]  # block number, and the row as COPY text
    trades: list[PoolTrade]
    changes: list[ContractChange]
    ends: list[TokenEnd]


class TokenLife(NamedTuple):
    """What a token's events mean, from a log on: block number and log index."""

    type: str
    since: tuple[int, int]
    item_type: str | None
    wraps_since: int | None  # block number


@dataclass(slots=True)
class InspectedContract:
    """A contract's stored state, as far as it is needed to read logs."""

    token_type: str | None = None
    item_type: str | None = None  # of a BEP20 that has items
    wraps_since: int | None = None  # block number
    may_begin_at: int | None = None  # the first block after a token's last life
    token_since: tuple[int, int] = (-1, -1)  # block number and log index that make it a token
    ended_lives: list[tuple[int, TokenLife]] = field(default_factory=list)  # since it is known
    pool: NewPool | None = None
    rejected: dict[str, tuple[int, int]] = field(default_factory=dict)  # first and last block
    code_hash: bytes | None = None

    def end_life(self, end_block: int) -> None:
        assert self.token_type is not None
        life = TokenLife(self.token_type, self.token_since, self.item_type, self.wraps_since)
        self.ended_lives.append((end_block, life))
        self.token_type = self.item_type = self.wraps_since = None
        self.may_begin_at = end_block

    def life_at(self, number: int, log_index: int) -> TokenLife | None:
        """Return the life that an event is of, None where it is none of a token."""
        for end_block, life in self.ended_lives:
            if life.since <= (number, log_index) and number < end_block:
                return life
        if self.token_type is None or (number, log_index) < self.token_since:
            return None
        return TokenLife(self.token_type, self.token_since, self.item_type, self.wraps_since)
