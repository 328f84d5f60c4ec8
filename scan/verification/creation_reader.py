"""The code that created a contract: the input of its transaction, or of a traced call."""

from scan.database.connection import Database
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeGateway, NodeSession
from scan.ethereum.trace_reader import TransactionTraces
from scan.ethereum.traces import is_creation
from scan.ethereum.transaction_reader import (
    Content,
    IndexedTransaction,
    TransactionReader,
    TransactionUnavailable,
)
from scan.hex import to_hex

_CLIENT = "verification"


class CreationReader:
    """Finds creations in the index and reads their input from the node."""

    def __init__(
        self,
        database: Database,
        gateway: NodeGateway,
        transactions: TransactionReader,
        traces: TransactionTraces,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._transactions = transactions
        self._traces = traces

    def input_of(self, address: bytes, block_number: int) -> bytes | None:
        """Return the creation code, with constructor arguments, of a contract whose code is indexed
        since this block; None if its creation there is not indexed, or the node does not have it or
        does not answer."""
        row = self._database.row(
            "verification/creations_get", address=address, block_number=block_number
        )
        if row is None:
            return None
        is_by_contract, *hashes, to_address = row
        transaction_hash, block_hash = (to_hex(bytes(value)) for value in hashes)
        to = None if to_address is None else to_hex(bytes(to_address))
        indexed = IndexedTransaction(transaction_hash, block_number, block_hash, to)
        node = self._gateway.session(_CLIENT)
        try:
            if is_by_contract:
                return self._traced_input(node, indexed, address)
            sent = self._transactions.read(node, [(indexed, Content.INPUT)])
            return sent[indexed.hash].input
        except (TransactionUnavailable, TracesUnavailable, UpstreamFailed, Unavailable):
            return None

    def _traced_input(
        self, node: NodeSession, indexed: IndexedTransaction, address: bytes
    ) -> bytes | None:
        """Return the input of the last creation at the address; None if there is none, or the trace
        was cut."""
        trace = self._traces.calls(node, indexed)
        frames = [
            frame
            for frame in trace.frames
            if is_creation(frame.type) and frame.to_address == address and not frame.is_undone
        ]
        is_whole = trace.frame_count == len(trace.frames) and bool(frames)
        if not is_whole or frames[-1].input_size != len(frames[-1].input):
            return None
        return frames[-1].input
