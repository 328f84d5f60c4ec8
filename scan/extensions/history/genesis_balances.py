"""Balances at genesis, which no row of a block has: read from the node once, and stored."""

import logging
from typing import NamedTuple

from scan.database import connection, errors
from scan.errors import HistoryUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.served_chain import BlockId
from scan.ethereum.state_proofs import AccountProofs
from scan.hex import to_hex
from scan.queries.blocks import hash_at
from scan.queries.reader import Reader

log = logging.getLogger(__name__)

TIMEOUT_S = 0.5


class GenesisBalance(NamedTuple):
    """A balance after block 0 in wei. One that is not proven is what the node says."""

    balance: int
    is_proven: bool


class GenesisBalances:
    def __init__(self, writes: connection.Database) -> None:
        self._writes = writes

    def read(self, reader: Reader, address: bytes) -> GenesisBalance | None:
        """Read a balance from the node and store it; None where the node does not give it."""
        block_hash = hash_at(reader, 0)
        if block_hash is None or reader.has_node_failed:
            return None
        read = _read(reader, address, BlockId(0, block_hash))
        if read is not None:
            self._store(address, read)
        return read

    def _store(self, address: bytes, read: GenesisBalance) -> None:
        """Store a balance. Where the database takes no writes now, log a warning: the next request
        reads the balance from the node again. So it does after a file, whose snapshot a COMMIT
        would end."""
        if self._writes.is_in_transaction():
            return
        try:
            with self._writes.transaction() as tx:
                tx.execute("contracts/genesis_balances_put", address=address, **read._asdict())
        except (Unavailable, errors.Conflict) as error:
            log.warning("the genesis balance of %s cannot be kept: %s", to_hex(address), error)


def _read(reader: Reader, address: bytes, block: BlockId) -> GenesisBalance | None:
    sources = reader.sources
    try:
        node = reader.node.within(TIMEOUT_S)
        account = sources.get(AccountProofs).read(node, address, block)
        return GenesisBalance(account.balance, is_proven=True)
    except (HistoryUnavailable, Unavailable, UpstreamFailed):  # few nodes keep proofs of block 0
        state = sources.account_states.all_at(reader.node, [address], block).get(address)
        return None if state is None else GenesisBalance(state.balance, is_proven=False)
