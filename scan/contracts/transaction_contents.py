"""Transactions of indexed blocks with their receipts: as they were stored when they were proven
(SCAN_BODIES), else from the node: few with their whole block, which proves them.

What is stored costs no turn at the node, no waiting and no time-out. Readers of one block share it,
decompressed, in bounded memory. A block's hash is its key, for which it never changes. Damaged ones
are logged, and read as if they were not stored.
"""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from scan.cached_values import SizedCache
from scan.database.connection import Database
from scan.errors import Unavailable
from scan.ethereum import blocks, transaction_reader
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.ethereum.stored_blocks import DamagedBody, StoredBlock, StoredTransaction
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.hex import data

log = logging.getLogger(__name__)

CACHE_BYTES = 64 * 1024 * 1024  # of blocks, and of the node's transactions
ENTRY_BYTES = 650  # memory of a transaction besides its input, measured
LOG_BYTES = 650  # memory of a log besides its data, measured
NEWEST = 16
AT_ONCE = 64  # blocks, of 0.1 to 0.3 MB
AT_ONCE_BYTES = 4 * 1024 * 1024  # as they are stored; one block may have more
READING_LOCKS = 32
MOST_PROVEN = 2  # blocks that are read from the node as a whole for one request
READ_S = 10.0  # for the blocks of one request, of which 10,000 take half of it


class TooManyBlocks(Unavailable):
    def __init__(self, read_s: float) -> None:
        super().__init__(
            f"Reading these transactions from their blocks takes more than {read_s:g} s: request"
            " fewer at once."
        )


class TransactionContents:
    at_once_bytes, read_s = AT_ONCE_BYTES, READ_S

    def __init__(self, database: Database) -> None:
        self._database = database
        self._blocks: SizedCache[StoredBlock] = SizedCache(CACHE_BYTES, least_entries=4)
        # So that no two threads decode the same block, and few wait for that of another.
        self._reading = [threading.Lock() for _ in range(READING_LOCKS)]
        # With the most logs that are read, a transaction takes 13 MB and its data.
        self._of_node: SizedCache[StoredTransaction] = SizedCache(CACHE_BYTES, least_entries=4)

    def newest(self) -> list[Any]:
        """Return the hashes of the blocks that were used last, which no statement has to bring."""
        return self._blocks.newest(NEWEST)

    def keep(self, number: int, block_hash: Any, digest: Any, body: Any) -> StoredBlock | None:
        """Keep a block as a statement has brought it, and return it; None for a damaged one."""
        key = bytes(block_hash)
        with self._reading[key[-1] % READING_LOCKS]:
            block = self._blocks.get(key)
            if block is None and (block := _read(number, digest, body)):
                self._blocks.store(key, block, block.bytes)
            return block

    def stored(
        self,
        numbers: Sequence[int],
        *,
        are_kept: bool = False,
        before_large: Callable[[], None] | None = None,
    ) -> Iterator[tuple[int, bytes, StoredBlock | None]]:
        """Yield the numbers and hashes of blocks that are stored, in the order of `numbers`, and
        what is; None of a block without transactions. Few bytes are in memory at once, besides one
        block; `before_large` is called before such a one is read."""
        rest, whatever_size = [*numbers], before_large is None
        while rest:
            later = None
            for number, block_hash, digest, is_later, body in self._database.rows(
                "contracts/block_bodies_list",
                numbers=rest[:AT_ONCE],
                most_bytes=self.at_once_bytes,
                whatever_size=whatever_size,
            ):
                if is_later:
                    later = number
                    break
                block = None
                if body is not None and are_kept:
                    block = self.keep(number, block_hash, digest, body)
                elif body is not None:
                    block = _read(number, digest, body)
                if body is None or block is not None:
                    yield number, bytes(block_hash), block
            if later is None:
                rest, whatever_size = rest[AT_ONCE:], before_large is None
                continue
            rest = rest[rest.index(later) :]
            if before_large is not None:
                before_large()
                whatever_size = True

    def transaction(
        self, node: NodeSession, indexed: IndexedTransaction, *, with_receipts: bool = True
    ) -> StoredTransaction:
        """Return a transaction. Raises as transactions() does."""
        return self.transactions(node, [indexed], with_receipts=with_receipts)[indexed.hash]

    def transactions(
        self,
        node: NodeSession,
        needed: Sequence[IndexedTransaction],
        *,
        with_receipts: bool = True,
        with_logs: bool = True,
    ) -> Mapping[str, StoredTransaction]:
        """Return transactions by hash; those of the node perhaps without receipts, those of stored
        blocks without logs where either is not needed.

        Raises Unavailable where the database is unavailable, TooManyBlocks, and of transactions
        that are not stored TransactionUnavailable and the errors of NodeSession. Those that were
        read before an error stay cached.
        """
        until, with_logs = time.monotonic() + self.read_s, with_logs and with_receipts
        transactions: dict[str, StoredTransaction] = {}
        in_blocks: dict[tuple[int, bytes], list[IndexedTransaction]] = defaultdict(list)
        for indexed in needed:
            of_node = self._of_node.get(indexed)
            if of_node and (of_node.receipt.logs is not None or not with_receipts):
                transactions[indexed.hash] = of_node
            else:
                in_blocks[indexed.block_number, data(indexed.block_hash)].append(indexed)
        for number, block_hash, block in self._blocks_of([*in_blocks]):
            if block is not None:
                with damage_logged():
                    for indexed in in_blocks.get((number, block_hash), ()):
                        sent = block.transaction(indexed.transaction_index, with_logs=with_logs)
                        transactions[indexed.hash] = sent
                    in_blocks.pop((number, block_hash), None)
                if in_blocks and time.monotonic() > until:
                    raise TooManyBlocks(self.read_s)
        if with_receipts and len(in_blocks) <= MOST_PROVEN:
            for key in [*in_blocks]:
                block = transaction_reader.proven_block(node, BlockId(*key))
                if block is not None:
                    self._blocks.store(key[1], block, block.bytes)
                    for indexed in in_blocks.pop(key):
                        sent = block.transaction(indexed.transaction_index, with_logs=with_logs)
                        transactions[indexed.hash] = sent
        missing = [indexed for of_block in in_blocks.values() for indexed in of_block]
        for indexed, sent in transaction_reader.read(node, missing, with_receipts=with_receipts):
            transactions[indexed.hash] = sent
            size = ENTRY_BYTES + len(sent.input)
            size += sum(LOG_BYTES + len(log.data) for log in sent.receipt.logs or ())
            self._of_node.store(indexed, sent, size)
        return transactions

    def stored_transaction(self, indexed: IndexedTransaction) -> StoredTransaction | None:
        """Return a transaction as it is stored; None where it is not."""
        key = indexed.block_number, data(indexed.block_hash)
        for _, block_hash, block in self._blocks_of([key]):
            if block is not None and block_hash == key[1]:
                with damage_logged():
                    return block.transaction(indexed.transaction_index)
        return None

    def _blocks_of(
        self, keys: Sequence[tuple[int, bytes]]
    ) -> Iterator[tuple[int, bytes, StoredBlock | None]]:
        """Yield stored blocks, cached ones first; the hash may be another one."""
        absent = []
        for number, block_hash in keys:
            cached = self._blocks.get(block_hash)
            if cached is None:
                absent.append(number)
            else:
                yield number, block_hash, cached
        yield from self.stored(absent, are_kept=True)


def _read(number: int, digest: Any, body: Any) -> StoredBlock | None:
    """Return a stored block; None for a damaged one."""
    with damage_logged():
        return StoredBlock(number, blocks.StoredBody(bytes(digest), bytes(body)))
    return None


@contextmanager
def damage_logged() -> Iterator[None]:
    """Log that a stored block is damaged, which ends what is inside: it counts as not stored."""
    try:
        yield
    except DamagedBody as error:
        log.error("%s", error.message)
