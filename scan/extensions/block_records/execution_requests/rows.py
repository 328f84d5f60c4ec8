"""Requests to the consensus layer (EIP-7685), as the logs of a block submit them. Pure.

The deposit contract logs deposits (EIP-6110). Withdrawals (EIP-7002), consolidations (EIP-7251),
and deposits and exits of builders (EIP-8282) wait in the queues of their contracts, of which each
block takes some: submitted_in() returns the requests that a block submits, requests_in() those that
it takes.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, NamedTuple

from scan.ethereum import fork_schedule, sparse_tables
from scan.ethereum.blocks import DecodedBlock, EventLog
from scan.ethereum.column_types import ADDRESS, BIGINT, BYTES, COMPUTED, INTEGER, PROVEN, Column
from scan.ethereum.forms.form import PLACE_BITS
from scan.indexer.hooks import Rows

DEPOSIT, WITHDRAWAL, CONSOLIDATION, BUILDER_DEPOSIT, BUILDER_EXIT = (bytes([n]) for n in range(5))
TYPES = {
    "deposit": DEPOSIT,
    "withdrawal": WITHDRAWAL,
    "consolidation": CONSOLIDATION,
    "builder_deposit": BUILDER_DEPOSIT,
    "builder_exit": BUILDER_EXIT,
}
# The contracts with queues, each with the type and the size of the requests that it logs, in bytes.
_QUEUES = {
    fork_schedule.WITHDRAWAL_CONTRACT: (WITHDRAWAL, 76),
    fork_schedule.CONSOLIDATION_CONTRACT: (CONSOLIDATION, 116),
    fork_schedule.BUILDER_DEPOSIT_CONTRACT: (BUILDER_DEPOSIT, 184),
    fork_schedule.BUILDER_EXIT_CONTRACT: (BUILDER_EXIT, 68),
}
REQUEST_CONTRACTS = fork_schedule.DEPOSIT_CONTRACTS | _QUEUES.keys()
# The requests that a block takes from a queue.
MOST_IN_BLOCK = {WITHDRAWAL: 16, CONSOLIDATION: 2, BUILDER_DEPOSIT: 64, BUILDER_EXIT: 16}
_DEPOSIT_EVENT = bytes.fromhex("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5")
# Where each value begins in the event's data, and its size, in bytes.
_DEPOSIT_LAYOUT = ((192, 48), (288, 32), (352, 8), (416, 96), (544, 8))
_DEPOSIT_BYTES = 576
_WITH_ADDRESS = (1, 2)  # types of withdrawal credentials that end with an address
_PUBKEY_BYTES = 48


class ExecutionRequest(NamedTuple):
    """A request that a log submits; a row of the table execution_requests."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    log_index: Annotated[int, Column(INTEGER, PROVEN)]
    type: Annotated[bytes, Column(BYTES, COMPUTED)]  # one byte
    # The submitter; of deposits the address that withdrawals go to, None where there is none yet.
    address: Annotated[bytes | None, Column(ADDRESS, PROVEN)]
    pubkey: Annotated[bytes, Column(BYTES, PROVEN)]
    # The fields after the key, encoded as for the consensus layer.
    details: Annotated[bytes, Column(BYTES, PROVEN)]

    @property
    def encoded(self) -> bytes:
        is_deposit = self.type in (DEPOSIT, BUILDER_DEPOSIT)
        address = b"" if is_deposit else self.address or b""
        return address + self.pubkey + self.details


def submitted_in(block: DecodedBlock) -> Iterator[ExecutionRequest]:
    """Yield the requests that a block submits, in the order of their logs."""
    return islice(_requests(block), 1 << PLACE_BITS)


def _requests(block: DecodedBlock) -> Iterator[ExecutionRequest]:
    ordinal = block.number << PLACE_BITS
    for log in block.logs:
        if log.address in REQUEST_CONTRACTS and (content := _content(log)):
            type_, address, pubkey, details = content
            yield ExecutionRequest(
                ordinal,
                block.number,
                log.transaction_index,
                log.log_index,
                type_,
                address=address,
                pubkey=pubkey,
                details=details,
            )
            ordinal += 1


def _content(log: EventLog) -> tuple[bytes, bytes | None, bytes, bytes] | None:
    """Return the type, address, key and details of the request in a log; None without one."""
    if log.address in fork_schedule.DEPOSIT_CONTRACTS:
        if log.topics[:1] != (_DEPOSIT_EVENT,) or len(log.data) != _DEPOSIT_BYTES:
            return None
        pubkey, credentials, *others = (log.data[at : at + n] for at, n in _DEPOSIT_LAYOUT)
        address = credentials[12:] if credentials[0] in _WITH_ADDRESS else None
        return DEPOSIT, address, pubkey, b"".join((credentials, *others))
    type_, size = _QUEUES[log.address]
    if log.topics or len(log.data) != size:
        return None
    if type_ == BUILDER_DEPOSIT:
        pubkey, credentials, amount, signature = _split(log.data, 48, 32, 8, 96)
        address = None if any(credentials[1:12]) else credentials[12:]
        return type_, address, pubkey, credentials + amount[::-1] + signature
    address, pubkey, details = _split(log.data, 20, _PUBKEY_BYTES, size)
    # A withdrawal's amount is logged big-endian, as a builder's is.
    return type_, address, pubkey, details[::-1] if type_ == WITHDRAWAL else details


def _split(content: bytes, *sizes: int) -> Iterator[bytes]:
    """Yield consecutive parts of these sizes, in bytes."""
    start = 0
    for size in sizes:
        yield content[start : start + size]
        start += size


def requests_in(
    number: int, submitted: Mapping[bytes, Sequence[ExecutionRequest]]
) -> list[ExecutionRequest]:
    """Return the requests that block `number` takes.

    `submitted` has the requests of each type up to the block, oldest first, beginning with one
    that was submitted to an empty queue.
    """
    taken = list(submitted.get(DEPOSIT, ()))
    for type_, most in MOST_IN_BLOCK.items():
        blocks: list[int] = []
        for index, request in enumerate(submitted.get(type_, ())):
            earliest = blocks[index - most] + 1 if index >= most else 0
            blocks.append(max(request.block_number, earliest))
            if blocks[index] == number:
                taken.append(request)
    return taken


def requests_hash(requests: Sequence[ExecutionRequest]) -> bytes:
    """Return the requestsHash of a block's requests, given in the order of types (EIP-7685)."""
    by_type: dict[bytes, bytes] = {}
    for request in requests:
        by_type[request.type] = by_type.get(request.type, request.type) + request.encoded
    return hashlib.sha256(
        b"".join(hashlib.sha256(of_type).digest() for of_type in by_type.values())
    ).digest()


HOOKS = Rows(
    tables={
        "execution_requests": sparse_tables.SparseTable(
            ExecutionRequest, lambda block, _: submitted_in(block), emitters=REQUEST_CONTRACTS
        )
    }
)
