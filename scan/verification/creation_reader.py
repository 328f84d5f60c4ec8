"""The code that created a contract: the input of its transaction, or of a traced call."""

from scan import registry
from scan.database.connection import Database
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeGateway, NodeSession
from scan.ethereum.transaction_reader import (
    Content,
    IndexedTransaction,
    TransactionReader,
    TransactionUnavailable,
)
from scan.hex import to_hex
from scan.verification.hooks import CreationInput

_CLIENT = "verification"


class CreationReader:
    """Finds creations in the index and reads their input from the node."""

    def __init__(
        self,
        database: Database,
        gateway: NodeGateway,
        transactions: TransactionReader,
        traces: str,
    ) -> None:
        """`traces` is as SCAN_TRACES."""
        self._database = database
        self._gateway = gateway
        self._transactions = transactions
        part = registry.only(CreationInput)
        self._traced_inputs = None if part is None else part.reader(traces)

    def input_of(
        self, address: bytes, block_number: int, node: NodeSession | None = None
    ) -> bytes | None:
        """Return the creation code, with constructor arguments, of a contract whose code is indexed
        since this block; None if its creation there is not indexed, or the node does not have it or
        does not answer. `node` is the session of a request, by default one of verifications."""
        row = self._database.row(
            "verification/creations_get", address=address, block_number=block_number
        )
        if row is None:
            return None
        is_by_contract, *hashes, to_address = row
        transaction_hash, block_hash = (to_hex(bytes(value)) for value in hashes)
        to = None if to_address is None else to_hex(bytes(to_address))
        indexed = IndexedTransaction(transaction_hash, block_number, block_hash, to)
        node = node or self._gateway.session(_CLIENT)
        try:
            if is_by_contract:
                traced = self._traced_inputs
                return None if traced is None else traced.input_of(node, indexed, address)
            sent = self._transactions.read(node, [(indexed, Content.INPUT)])
            return sent[indexed.hash].input
        except (TransactionUnavailable, TracesUnavailable, UpstreamFailed, Unavailable):
            return None
