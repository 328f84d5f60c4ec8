"""Balances and supplies that are marked as stale, read from the node while the index is idle."""

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.token_metadata import TOTAL_SUPPLY, word
from scan.indexer.contract_inspection import TokenSupply
from scan.indexer.contract_state import BlockId, StateQuery, StateReader
from scan.indexer.writer import IndexedHead, Writer

BATCH_ADDRESSES = 500


class StaleStateRefresher:
    """Reads values that the database marks as stale, a limited number at a time."""

    def __init__(self, node: Node, database: Database, writer: Writer) -> None:
        self._state = StateReader(node)
        self._database = database
        self._writer = writer

    def refresh(self, head: IndexedHead) -> bool:
        """Read and store one batch of values; return whether there was one."""
        # One batch a step, so that the follower looks for new blocks in between.
        return self._refresh_supplies(head) or self._refresh_balances(head)

    def _refresh_supplies(self, head: IndexedHead) -> bool:
        """Store supplies as of each token's last transfer, so that they do not depend on when they
        are read. Return whether there were any."""
        queries = [
            StateQuery(bytes(token), TOTAL_SUPPLY, BlockId(number, bytes(block_hash)))
            for token, number, block_hash in self._database.prepared_rows(
                "indexer/tokens_list_stale", limit=BATCH_ADDRESSES
            )
        ]
        results = self._state.read(queries)
        supplies = [TokenSupply(q.address, word(results[q]), q.block.number) for q in queries]
        if supplies:
            self._writer.store_supplies(head, supplies)
        return bool(supplies)

    def _refresh_balances(self, head: IndexedHead) -> bool:
        rows = self._database.prepared_rows("indexer/addresses_list_stale", limit=BATCH_ADDRESSES)
        addresses = [bytes(row[0]) for row in rows]
        balances = self._state.balances(addresses, BlockId(head.number, head.hash))
        if addresses:
            self._writer.store_balances(head, addresses, balances)
        return bool(addresses)
