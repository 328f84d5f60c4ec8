"""The creations of contracts on the chain: their input, and whether contracts with the runtime code
of a verified one were created by the same code, too.

A row of creation_comparisons tells a contract with the same creation code from one that is similar
in its runtime code alone. Whether there is one never depends on what was requested.
"""

import time
from datetime import datetime
from typing import NamedTuple

import orjson

from scan import registry
from scan.contracts.transaction_contents import TransactionContents
from scan.database.connection import Database
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeGateway, NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.hex import to_hex
from scan.verification.creation_comparison import are_constructor_arguments
from scan.verification.hooks import CreationInput

_CLIENT = "verification"


class CreationReader:
    """Finds creations in the index, and reads their input."""

    def __init__(
        self, database: Database, gateway: NodeGateway, contents: TransactionContents, traces: str
    ) -> None:
        """`traces` is as SCAN_TRACES."""
        self._database = database
        self._gateway = gateway
        self._contents = contents
        part = registry.only(CreationInput)
        self._traced_inputs = None if part is None else part.reader(traces)

    def input_of(
        self, address: bytes, block_number: int, node: NodeSession | None = None
    ) -> bytes | None:
        """Return the creation code, with constructor arguments, of a contract whose code is indexed
        since this block; None if its creation there is not indexed, or the node does not give it.
        `node` is the session of a request, by default one of verifications. Raises Unavailable
        where the node or the database does not answer now."""
        row = self._database.row(
            "verification/creations_get", address=address, block_number=block_number
        )
        if row is None:
            return None
        is_by_contract, *hashes, index, to_address = row
        transaction_hash, block_hash = (to_hex(bytes(value)) for value in hashes)
        to = None if to_address is None else to_hex(bytes(to_address))
        indexed = IndexedTransaction(transaction_hash, block_number, block_hash, index, to)
        node = node or self._gateway.session(_CLIENT)
        try:
            if is_by_contract:
                traced = self._traced_inputs
                return None if traced is None else traced.input_of(node, indexed, address)
            return self._contents.transaction(node, indexed).input
        except TracesUnavailable:  # also where tracing takes too long, as it may for ever
            return None
        except UpstreamFailed as error:
            if node.failed:
                raise Unavailable(error.message) from None
            return None


MAX_CODES = 1_000  # verified since the last step, or before a process started
MAX_OF_ONE_CODE = 100  # contracts that are compared when their code is verified
# Of verified creation code, from the creation's on down: to hide one, somebody would have to verify
# code of as many lengths between it and the end of its arguments.
MAX_LENGTHS = 300
NEW_BLOCKS = 64  # the newest, which may be replaced by others
MAX_UNKNOWN = 1_000
UNKNOWN_S = 60.0  # after which a creation that the node did not give is read again, then doubled
LONGEST_UNKNOWN_S = 3_600.0


class _Unknown(NamedTuple):
    """When a contract is compared again, and how long after the last time."""

    at: float
    delay_s: float


class EqualCreations:
    """Compares the creations of contracts with those of the verifications of their code."""

    def __init__(self, database: Database, creations: CreationReader) -> None:
        self._database = database
        self._creations = creations
        self._after: datetime | None = None  # the verification up to which codes were compared
        self._unknown: dict[bytes, _Unknown] = {}

    def step(self) -> bool:
        """Compare contracts of the newest blocks, of codes that were verified since the last step,
        those created anew, and those whose creation was not known; return False: the next step is
        not due at once."""
        [(self._after, addresses)] = self._database.rows(
            "verification/contracts_list_comparable",
            after=self._after,
            codes=MAX_CODES,
            of_one_code=MAX_OF_ONE_CODE,
            blocks=NEW_BLOCKS,
        )
        now = time.monotonic()
        due = [address for address, unknown in self._unknown.items() if unknown.at <= now]
        new = [address for address in map(bytes, addresses) if address not in self._unknown]
        for address in (*due, *new):
            if self._compare(address):
                self._unknown.pop(address, None)
            else:
                self._postpone(address)
        return False

    def _postpone(self, address: bytes) -> None:
        last = self._unknown.get(address)
        delay_s = min(2 * last.delay_s, LONGEST_UNKNOWN_S) if last else UNKNOWN_S
        if last is None and len(self._unknown) >= MAX_UNKNOWN:
            del self._unknown[next(iter(self._unknown))]
        self._unknown[address] = _Unknown(time.monotonic() + delay_s, delay_s)

    def _compare(self, address: bytes) -> bool:
        """Store whether a contract was created by equal code; return False where this is not
        known."""
        row = self._database.row("verification/creations_get_comparable", address=address)
        if row is None:
            return True
        code_hash, block_number, creation_hash, compared_at = row
        try:
            creation = self._creations.input_of(address, block_number)
        except Unavailable:
            creation = None
        if creation is None:
            return False
        verified = self._database.rows(
            "verification/verified_contracts_list_by_creation",
            code_hash=bytes(code_hash),
            creation=creation,
            lengths=MAX_LENGTHS,
        )
        equal_arguments = None
        for verified_hash, length, abi in verified:
            if are_constructor_arguments(orjson.loads(abi), creation[length:]):
                creation_hash, equal_arguments = verified_hash, creation[length:]
                break
        self._database.rows(
            "verification/creation_comparisons_put",
            address=address,
            code_hash=bytes(code_hash),
            creation_hash=bytes(creation_hash or b""),
            is_equal=equal_arguments is not None,
            constructor_arguments=equal_arguments,
            compared_at=compared_at,
        )
        return True
