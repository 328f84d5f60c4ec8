"""State of accounts at a block, read from the node and cached: balances and code. The node of an
index has to serve the chain that is indexed.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import NamedTuple, TypeVar

from scan.cached_values import SizedCache
from scan.contracts.known_proxies import delegation_text
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.errors import ScanError, Unavailable, UpstreamFailed
from scan.ethereum import blocks, client, served_chain
from scan.ethereum.request_node import NodeSession
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.token_metadata import word
from scan.hex import BadHex, data, quantity, to_hex
from scan.settings import Settings

T = TypeVar("T")
log = logging.getLogger(__name__)

TIMEOUT_S = 0.5  # of 100 calls
UNSTORED_TIMEOUT_S = 3.0  # as of a node 500 ms away with the check of its chain
CACHE_BYTES = 8 * 1024 * 1024
ENTRY_BYTES = 600  # some 14,000 states
CALL_GAS = 1_000_000
MAX_CALL_BYTES = 16 * 1024
MAX_ACCOUNTS = 100
ViewCall = tuple[bytes, str]  # a contract's address, and call data
ViewAt = tuple[ViewCall, served_chain.BlockId]


class AccountState(NamedTuple):
    """The state of an address at a block; balance in wei. An account that delegates to code
    (EIP-7702) has code, but is no contract."""

    balance: int
    is_contract: bool
    has_code: bool
    code_hash: bytes


class AccountStates:
    """Balances and code by address and block hash, which are read of the node once, unless it
    `may_change` them without a block."""

    def __init__(self, may_change: Callable[[], bool] = lambda: False) -> None:
        self._may_change = may_change
        self._cache: SizedCache[AccountState] = SizedCache(CACHE_BYTES)
        self._words: SizedCache[int] = SizedCache(CACHE_BYTES)

    def _usable(self, cache: SizedCache[T]) -> SizedCache[T]:
        """Return the cache, or where its values may have changed an empty one for this request."""
        return SizedCache(CACHE_BYTES) if self._may_change() else cache

    def all_at(
        self,
        node: NodeSession,
        addresses: Sequence[bytes],
        block: served_chain.BlockId,
        *,
        are_stored: bool = True,
    ) -> dict[bytes, AccountState]:
        """Return the states by address, read in one batch. Those are missing of which the node
        gives no valid response in time; unless `are_stored`, there is nothing to show instead."""
        cache = self._usable(self._cache)
        cached = {address: cache.get((address, block.hash)) for address in addresses}
        states = {address: state for address, state in cached.items() if state is not None}
        missing = [address for address in cached if address not in states]
        calls = [
            client.Call(method, (to_hex(address), block))
            for address in missing
            for method in ("eth_getBalance", "eth_getCode")
        ]
        try:
            timeout_s = TIMEOUT_S if are_stored else max(TIMEOUT_S, UNSTORED_TIMEOUT_S)
            results = node.within(timeout_s).results(calls)
            pairs = zip(results[::2], results[1::2], strict=True)
            read = {
                address: state_of(*pair)
                for address, pair in zip(missing, pairs, strict=True)
                if not any(isinstance(result, client.RpcError) for result in pair)
            }
        except (UpstreamFailed, Unavailable, BadHex):
            return states
        for address, state in read.items():
            cache.store((address, block.hash), state, ENTRY_BYTES)
        return states | read

    def of_node(self, node: NodeSession) -> list[bytes]:
        """Return the accounts that a development node has the keys of; none where it names none."""
        with suppress(UpstreamFailed, Unavailable, BadHex):
            [accounts] = node.within(TIMEOUT_S).results([client.Call("eth_accounts", ())])
            if isinstance(accounts, list):
                return [data(account, 20) for account in accounts[:MAX_ACCOUNTS]]
        return []

    def words_at(
        self, node: NodeSession, views: Sequence[ViewCall], block: served_chain.BlockId
    ) -> dict[ViewCall, int]:
        """Return the numbers that functions of contracts return after a block; see words()."""
        words = self.words(node, [(view, block) for view in views])
        return {view: number for (view, _), number in words.items()}

    def words(self, node: NodeSession, views: Sequence[ViewAt]) -> dict[ViewAt, int]:
        """Return the numbers that functions of contracts return after blocks, read in one batch.
        Those are missing that a contract or the node does not return in time."""
        cache = self._usable(self._words)
        cached = {(view, at): cache.get((*view, at.hash)) for view, at in views}
        words = {view: number for view, number in cached.items() if number is not None}
        missing = [view for view in cached if view not in words]
        gas = hex(CALL_GAS)
        timeout_s = TIMEOUT_S * (1 + len(missing) // 100)
        calls = [
            client.Call("eth_call", ({"to": to_hex(contract), "data": calldata, "gas": gas}, at))
            for (contract, calldata), at in missing
        ]
        try:
            answers = node.within(timeout_s).results(calls, MAX_CALL_BYTES)
        except (UpstreamFailed, Unavailable):
            return words
        for view, answer in zip(missing, answers, strict=True):
            with suppress(BadHex):
                number = None if isinstance(answer, client.RpcError) else word(data(answer))
                if number is not None:
                    words[view] = number
                    cache.store((*view[0], view[1].hash), number, ENTRY_BYTES)
        return words


def state_of(balance: object, code: object) -> AccountState:
    """Return the state by the results of eth_getBalance and eth_getCode. Raises BadHex."""
    code_bytes = data(code)
    is_contract = bool(code_of(code))
    return AccountState(quantity(balance), is_contract, bool(code_bytes), keccak256(code_bytes))


def code_of(result: object) -> bytes:
    """Return a contract's code by the result of eth_getCode: none of an account that delegates.
    Raises BadHex."""
    code = data(result)
    return b"" if code.startswith(blocks.DELEGATION) else code


class ReplacedCodes:
    """Notes contracts whose code at the head, as a request has read it, is not the indexed one, and
    indexes those that no block showed, such as a genesis contract that contracts alone call."""

    def __init__(self, reads: Database, writes: Database) -> None:
        self._reads = reads
        self._writes = writes

    def note(self, hashes: Mapping[bytes, bytes], block_number: int) -> None:
        """Compare hashes of code by address with the index, in which nothing changes where all is
        as it was noted. A database that cannot be written to keeps what it has."""
        if not hashes:
            return
        columns = {"addresses": [*hashes], "hashes": [*hashes.values()]}
        rows = self._reads.rows("contracts/replaced_codes_find", **columns)
        if rows:
            addresses, present = ([*map(bytes, column)] for column in zip(*rows, strict=True))
            log.warning("code at %s is not the indexed one, or is again", to_hex(addresses[0]))
            columns = {"addresses": addresses, "hashes": present}
            with suppress(ScanError):
                self._writes.rows("contracts/replaced_codes_put", **columns, block=block_number)

    def index(self, node: NodeSession, address: bytes, head: served_chain.BlockId) -> bool:
        """Index the code that the node has after the newest indexed block at an address without an
        indexed one, as if it had stood there from the first block on: what later blocks create is
        indexed with them. Return whether there is any. Raises UpstreamFailed and Unavailable where
        the node does not say."""
        [result] = node.within(TIMEOUT_S).results(
            [client.Call("eth_getCode", (to_hex(address), head))]
        )
        code = b"" if isinstance(result, client.RpcError) else code_of(result)
        if code:
            row = {"address": address, "code_hash": keccak256(code), "code": code}
            self._writes.rows("contracts/contracts_put", **row, delegation=delegation_text(code))
        return bool(code)

    def index_at_newest(self, node: NodeSession, address: bytes) -> bool:
        """Index the code after the newest indexed block as index() does; without a block, nothing.
        Return whether there is any; False, too, where the node does not say."""
        newest = self._reads.row("queries/blocks_find", number=None, hash=None)
        head = None if newest is None else served_chain.BlockId.of(*newest[1:3])
        with suppress(UpstreamFailed, Unavailable, BadHex):
            return head is not None and self.index(node, address, head)
        return False


STATEMENT_TIMEOUT_MS = 5000


def node_of_index(settings: Settings, database_url: str = "") -> client.Node:
    """Return the node of RPC_URL, which refuses to be one of another chain than the database has:
    DATABASE_URL by default."""
    expected = partial(stored_identity, database_url or settings.database_url)
    chain = served_chain.ServedChain(settings.rpc_urls, expected)
    return client.Node(settings.rpc_urls, ca_bundle=settings.ca_bundle, chain=chain)


def stored_identity(database_url: str) -> served_chain.ChainIdentity | None:
    """Return the indexed chain, None where nothing is indexed, by a connection of its own."""
    with closing(
        Database(database_url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-chain")
    ) as database:
        return read_identity(database)


def read_identity(database: Database | Transaction) -> served_chain.ChainIdentity | None:
    """Return the indexed chain, None where nothing is indexed."""
    row = database.row("contracts/chain_get_identity")
    if row is None:
        return None
    chain_id, genesis_hash, *kind = row
    return served_chain.ChainIdentity(int(chain_id), bytes(genesis_hash), *kind)
