"""Rows that follow from a block alone: blobs of its transactions (EIP-4844), by their versioned
hashes, requests to the consensus layer (EIP-7685), messages to L1, and authorizations (EIP-7702),
whose accounts' nonces, and whether they took effect, are derived.

A message is one by the event of a rollup's own contract. Only L1 knows whether it was proven or
executed: here it is initiated.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Annotated, Any, NamedTuple

from scan.database.transaction import Row, Transaction
from scan.ethereum import fork_schedule
from scan.ethereum.blocks import DecodedBlock, EventLog, MalformedBlock
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    BYTES,
    COMPUTED,
    HASH,
    INTEGER,
    PROVEN,
    TEXT,
    UINT256,
    UNSIGNED,
    Column,
)
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.sparse_tables import SparseTable
from scan.hex import BadHex, data
from scan.indexer.hooks import BlockRange, Derived, DerivedTable, Rows


class Blob(NamedTuple):
    """A blob that a transaction carried; a row of the table blobs."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    blob_index: Annotated[int, Column(INTEGER, PROVEN)]  # in its transaction
    versioned_hash: Annotated[bytes, Column(HASH, PROVEN)]


def blobs_of(block: DecodedBlock) -> Iterator[Blob]:
    ordinals = count(block.number << PLACE_BITS)
    for transaction in [t for t in block.transactions if t.blob_versioned_hashes]:
        for index, versioned_hash in enumerate(transaction.blob_versioned_hashes or ()):
            position = block.number, transaction.transaction_index, index
            yield Blob(next(ordinals), *position, versioned_hash)


MAX_DATA_BYTES = 16_384  # stored of a message; longer data is in the transaction's log alone
_NO_FIELD = "_"


class MessageToL1(NamedTuple):
    """A message that a rollup passes on to L1; a row of the table messages_to_l1. Fields that the
    chain's event does not have are None."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    log_index: Annotated[int, Column(INTEGER, PROVEN)]
    hash: Annotated[bytes, Column(HASH, PROVEN)]
    nonce: Annotated[int | None, Column(UINT256, PROVEN)]
    sender: Annotated[bytes, Column(ADDRESS, PROVEN)]
    target: Annotated[bytes | None, Column(ADDRESS, PROVEN)]  # on L1
    value: Annotated[int | None, Column(UINT256, PROVEN)]
    gas_limit: Annotated[int | None, Column(UINT256, PROVEN)]  # on L1
    data: Annotated[bytes | None, Column(BYTES, PROVEN)]  # None: longer than MAX_DATA_BYTES
    data_size: Annotated[int, Column(INTEGER, COMPUTED)]


class MessageEvent:
    """The event by which a chain's own contract announces messages. The parameters in its signature
    have the names of MessageToL1's fields."""

    def __init__(self, emitter: str, signature: str) -> None:
        self.emitter = data(emitter, 20)
        name, _, parameters = signature.partition("(")
        words = [parameter.split() for parameter in parameters.rstrip(")").split(",")]
        self._topic = keccak256(f"{name}({','.join(type_ for type_, *_ in words)})".encode())
        # Types and names; those of _NO_FIELD are not kept.
        self._indexed = [(w[0], w[-1]) for w in words if "indexed" in w]
        self._unindexed = [(w[0], w[-1]) for w in words if "indexed" not in w]

    def messages(self, block_number: int, logs: Sequence[EventLog]) -> tuple[MessageToL1, ...]:
        """Return the messages in a block's logs. The same event of another contract is none."""
        messages: list[MessageToL1] = []
        first = block_number << PLACE_BITS
        for log in logs:
            fields = self._fields(log) if log.address == self.emitter else None
            if fields is not None:
                position = block_number, log.transaction_index, log.log_index
                messages.append(MessageToL1(first + len(messages), *position, **fields))
        return tuple(messages)

    def _fields(self, log: EventLog) -> dict[str, Any] | None:
        """Return MessageToL1's fields from `hash` on; None where the log is another event, or does
        not decode."""
        if log.topics[:1] != (self._topic,) or len(log.topics) != len(self._indexed) + 1:
            return None
        from eth_abi.abi import decode  # which takes 0.15 s, on chains with messages alone
        from eth_abi.exceptions import DecodingError

        message: dict[str, Any] = dict.fromkeys(("nonce", "target", "value", "gas_limit"))
        encodings = (self._indexed, b"".join(log.topics[1:])), (self._unindexed, log.data)
        try:
            for fields, encoded in encodings:
                values = decode([type_ for type_, _ in fields], encoded)
                message |= zip([name for _, name in fields], values, strict=True)
        except (DecodingError, OverflowError):
            return None
        message.pop(_NO_FIELD, None)
        for party in ("sender", "target"):
            message[party] = message[party] and data(message[party], 20)
        if isinstance(message["hash"], int):
            message["hash"] = message["hash"].to_bytes(32)
        message["data_size"] = len(message["data"])
        if message["data_size"] > MAX_DATA_BYTES:
            message["data"] = None
        return message


_event = cache(MessageEvent)


def messages_in(block: DecodedBlock) -> tuple[MessageToL1, ...]:
    """Return the messages of a block; none where its chain's form names no event."""
    announced_by = block.message_event
    return _event(*announced_by).messages(block.number, block.logs) if announced_by else ()


MAX_NONCE = 2**64 - 1  # the largest nonce of an account (EIP-2681)


class Authorization(NamedTuple):
    """An entry of an authorizationList, as its row has it. Integers are encoded as UNSIGNED."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    authorization_index: Annotated[int, Column(INTEGER, PROVEN)]
    chain_id: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    # Whose code runs; the zero address ends a delegation.
    delegate: Annotated[bytes, Column(ADDRESS, PROVEN)]
    nonce: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    y_parity: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    signature_r: Annotated[bytes, Column(BYTES, PROVEN)]
    signature_s: Annotated[bytes, Column(BYTES, PROVEN)]
    # The signer; None where the signature is invalid.
    authority: Annotated[bytes | None, Column(ADDRESS, COMPUTED)]
    # Why the protocol passes over it, whatever the account's state.
    fault: Annotated[str | None, Column(TEXT, COMPUTED)]


def _read(entry: Any, authority: bytes | None, chain_id: bytes) -> tuple[Any, ...]:
    """Return the fields of an Authorization from `chain_id` on."""
    numbers = {
        name: UNSIGNED.read(entry[name]) for name in ("chainId", "nonce", "yParity", "r", "s")
    }
    if len(numbers["nonce"]) > 8 or len(numbers["yParity"]) > 1:
        raise BadHex("an authorization's nonce or yParity is out of range")
    return (
        numbers["chainId"],
        data(entry["address"], 20),
        *(numbers[name] for name in ("nonce", "yParity", "r", "s")),
        authority,
        _fault(numbers, authority, chain_id),
    )


def _fault(numbers: dict[str, bytes], authority: bytes | None, chain_id: bytes) -> str | None:
    """Return the first fault, in the order in which EIP-7702 checks them; None without one."""
    if numbers["chainId"] not in (b"", chain_id):
        return "wrong_chain"
    if int.from_bytes(numbers["nonce"]) == MAX_NONCE:
        return "nonce_limit"
    return "invalid_signature" if authority is None else None


def authorizations_in(block: DecodedBlock) -> list[Authorization]:
    """Return the authorizations of a block in their order. Raises MalformedBlock."""
    ordinals = count(block.number << PLACE_BITS)
    try:
        authorizations = [
            Authorization(
                *(next(ordinals), block.number, index, authorization_index),
                *_read(entry, authority, chain_id),
            )
            for index, entries, chain_id in block.authorization_lists
            for authorization_index, (entry, authority) in enumerate(entries)
        ]
    except (BadHex, KeyError, TypeError) as error:
        raise MalformedBlock(f"block {block.number}: {type(error).__name__}: {error}") from error
    if len(authorizations) >> PLACE_BITS:
        raise MalformedBlock(f"block {block.number}: its authorizations are too many")
    return authorizations


def derive(tx: Transaction, written: BlockRange) -> list[Row]:
    if "authorizations" in written.listed:
        tx.defer("indexer/authorizations_derive", span=written.span)
    return []


def unwind(tx: Transaction, orphaned: BlockRange) -> None:
    """Change nothing: no authorization depends on later blocks."""


TYPES = ("deposit", "withdrawal", "consolidation", "builder_deposit", "builder_exit")
DEPOSIT, WITHDRAWAL, CONSOLIDATION, BUILDER_DEPOSIT, BUILDER_EXIT = (bytes([n]) for n in range(5))
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
    contents = ((log, _content(log)) for log in block.logs if log.address in REQUEST_CONTRACTS)
    requests = ((log, content) for log, content in contents if content)
    ordinals = range(block.number << PLACE_BITS, (block.number + 1) << PLACE_BITS)
    for ordinal, (log, content) in zip(ordinals, requests, strict=False):
        yield ExecutionRequest(
            ordinal, block.number, log.transaction_index, log.log_index, *content
        )


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
        pubkey, credentials, amount, signature = struct.unpack("48s32s8s96s", log.data)
        address = None if any(credentials[1:12]) else credentials[12:]
        return type_, address, pubkey, credentials + amount[::-1] + signature
    address, pubkey, details = struct.unpack(f"20s48s{size - 68}s", log.data)
    # A withdrawal's amount is logged big-endian, as a builder's is.
    return type_, address, pubkey, details[::-1] if type_ == WITHDRAWAL else details


def requests_in(
    number: int, submitted: Mapping[bytes, Sequence[ExecutionRequest]]
) -> list[ExecutionRequest]:
    """Return the requests that block `number` includes.

    `submitted` has the requests of each type up to the block, oldest first, beginning with one
    that was submitted to an empty queue.
    """
    included = list(submitted.get(DEPOSIT, ()))
    for type_, most in MOST_IN_BLOCK.items():
        blocks: list[int] = []
        for index, request in enumerate(submitted.get(type_, ())):
            earliest = blocks[index - most] + 1 if index >= most else 0
            blocks.append(max(request.block_number, earliest))
            if blocks[index] == number:
                included.append(request)
    return included


def requests_hash(requests: Sequence[ExecutionRequest]) -> bytes:
    """Return the requestsHash of a block's requests, given in the order of types (EIP-7685)."""
    by_type: dict[bytes, bytes] = {}
    for request in requests:
        by_type[request.type] = by_type.get(request.type, request.type) + request.encoded
    hashes = (hashlib.sha256(of_type).digest() for of_type in by_type.values())
    return hashlib.sha256(b"".join(hashes)).digest()


HOOKS = (
    Rows(
        tables={
            "authorizations": SparseTable(
                Authorization,
                lambda block, _: authorizations_in(block),
                filled_later=("authority_nonce", "is_valid"),
            ),
            "blobs": SparseTable(Blob, lambda block, _: blobs_of(block)),
            "messages_to_l1": SparseTable(MessageToL1, lambda block, _: messages_in(block)),
            "execution_requests": SparseTable(
                ExecutionRequest, lambda block, _: submitted_in(block), emitters=REQUEST_CONTRACTS
            ),
        }
    ),
    Derived(
        tables={
            "authorizations": DerivedTable(
                "authorization {authorization_index} of block {block_number}, transaction"
                " {transaction_index}",
                bulk_accept="bulk/authorizations_accept",
            )
        },
        derive=derive,
        unwind=unwind,
    ),
)
