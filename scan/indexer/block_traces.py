"""What contracts created and moved inside a block's transactions, as far as it is known.

An extension reads it from the node's traces.
"""

from typing import NamedTuple

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.sparse_tables import InternalTransfer

TRACE_ATTEMPTS = 3  # after which a block that the node fails to trace is returned without traces


class TracedBlock(NamedTuple):
    """The result of tracing a block: either all of its internal transfers or none. `created`
    includes the contracts that transactions create; the code of `destroyed` ones may have ended.

    `is_complete` is False where needed traces could not be read, where logs may have the transfers
    (EIP-7708), and None where none are needed, since no transaction ran code. `failed` has the
    indexes of failed transactions, only where receipts have no status.
    """

    created: list[bytes]
    transfers: list[InternalTransfer]
    is_complete: bool | None
    failed: frozenset[int] = frozenset()
    destroyed: tuple[bytes, ...] = ()


class TraceReader:
    """Returns what is known of blocks without traces."""

    @property
    def can_trace(self) -> bool:
        """Whether the node may offer a method that traces."""
        return False

    def read(self, blocks: list[DecodedBlock]) -> list[TracedBlock]:
        """Return the traces of the blocks in their order, at least of the first one; of fewer
        blocks where they have many transfers.

        Raises MalformedBlock, and NodeError where the node may trace a block later.
        """
        return [*map(self.without_traces, blocks)]

    def without_traces(self, block: DecodedBlock) -> TracedBlock:
        """Return what is known of a block without traces of it."""
        return TracedBlock([], [], False if ran_code(block) else None)


def ran_code(block: DecodedBlock) -> bool:
    return any(transaction.ran_code for transaction in block.transactions)
