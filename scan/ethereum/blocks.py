"""Blocks with their receipts: the records of their rows, and the JSON that rows are read from.

The records here list the tables' columns: a field of DecodedTransaction, of Withdrawal or, where it
is annotated with a Column, of DecodedBlock is the column of that name. The node's JSON is read, and
rows are written, copied, exported, filled and compared with the node, by these declarations.
"""

from collections.abc import Callable, Iterable, Sequence
from types import GenericAlias
from typing import Annotated, Any, NamedTuple, Self

import msgspec

from scan.cached_values import cached_property, json_decoder
from scan.ethereum import block_encoding
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    BOOLEAN,
    BYTES,
    COMPUTED,
    HASH,
    HASHES,
    INTEGER,
    PROVEN,
    SAID,
    TEXT,
    TIMESTAMP,
    UINT256,
    UNSIGNED,
    Column,
    annotated_columns,
)
from scan.ethereum.forms.form import Credit
from scan.ethereum.forms.matching import ETHEREUM_TYPES, form_fields

PLAIN_TRANSFER_GAS = 21_000
WEI_PER_GWEI = 10**9
NOBODY = bytes(20)
METHOD_CHARACTERS = 10  # "0x" and the first four bytes of an input, as text
MAX_TOPICS = 4  # LOG4 is the last instruction that emits a log
# Emits a log for each value that moves between two accounts, in the form of a token's Transfer, in
# blocks with `coin_logs` (EIP-7708).
COIN_EMITTER = bytes.fromhex("ff" * 19 + "fe")
DELEGATION = bytes.fromhex("ef0100")  # EIP-7702: an account that borrows code is no contract


SET_CODE = b"\4"  # the type of transactions that have an authorizationList (EIP-7702)
# A transaction's index, the entries of its authorizationList as JSON, each with its signer, None
# where the signature is invalid, and its chain id as UNSIGNED.
AuthorizationList = tuple[int, Sequence[tuple[Any, bytes | None]], bytes]


class MalformedBlock(Exception):
    """A block or receipt that contradicts itself; it is read again, never skipped."""


def require(holds: bool, number: int, reason: str) -> None:
    """Raise MalformedBlock, which names block `number`, unless what it is about holds."""
    if not holds:
        raise MalformedBlock(f"block {number}: {reason}")


class DecodedTransaction(NamedTuple):
    """A transaction with what its receipt adds, as its row has it; amounts in wei.

    An UNSIGNED field, except `type`, is None where the node gives no such field.
    """

    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    hash: Annotated[bytes, Column(HASH, PROVEN, "hash")]
    from_address: Annotated[bytes, Column(ADDRESS, COMPUTED, "from")]
    to_address: Annotated[bytes | None, Column(ADDRESS, PROVEN, "to")]
    contract_address: Annotated[
        bytes | None, Column(ADDRESS, COMPUTED, "contractAddress", of_receipt=True)
    ]
    value: Annotated[int, Column(UINT256, PROVEN, "value")]
    gas_price: Annotated[int, Column(UINT256, COMPUTED, "gasPrice")]
    gas_used: Annotated[int, Column(UINT256, COMPUTED, "gasUsed", of_receipt=True)]
    status: Annotated[bool, Column(BOOLEAN, PROVEN, "status", of_receipt=True)]
    fee: Annotated[int, Column(UINT256, COMPUTED)]  # all that its sender paid, but for its value
    type: Annotated[bytes, Column(UNSIGNED, PROVEN, "type")] = b""
    nonce: Annotated[bytes | None, Column(UNSIGNED, PROVEN, "nonce")] = None
    gas_limit: Annotated[bytes | None, Column(UNSIGNED, PROVEN, "gas")] = None
    max_fee_per_gas: Annotated[bytes | None, Column(UNSIGNED, PROVEN, "maxFeePerGas")] = None
    max_priority_fee_per_gas: Annotated[
        bytes | None, Column(UNSIGNED, PROVEN, "maxPriorityFeePerGas")
    ] = None
    max_fee_per_blob_gas: Annotated[bytes | None, Column(UNSIGNED, PROVEN, "maxFeePerBlobGas")] = (
        None
    )
    cumulative_gas_used: Annotated[
        bytes | None, Column(UNSIGNED, PROVEN, "cumulativeGasUsed", of_receipt=True)
    ] = None
    # The first bytes of its input, at most four.
    method: Annotated[bytes | None, Column(BYTES, PROVEN, "input")] = None
    blob_versioned_hashes: Annotated[
        tuple[bytes, ...] | None, Column(HASHES, PROVEN, "blobVersionedHashes")
    ] = None
    blob_gas_price: Annotated[
        bytes | None, Column(UNSIGNED, COMPUTED, "blobGasPrice", of_receipt=True)
    ] = None
    # Fields of rollups, by the form of their chain.
    l1_fee: Annotated[bytes | None, Column(UNSIGNED, SAID, "l1Fee", of_receipt=True)] = None
    operator_fee: Annotated[bytes | None, Column(UNSIGNED, SAID)] = None
    # Minted even if it failed.
    mint: Annotated[bytes | None, Column(UNSIGNED, PROVEN, "mint")] = None
    chain_fields: Annotated[str | None, Column(TEXT, SAID)] = None  # JSON
    # True where its trace is known, though not those of all transactions of its block.
    traced: Annotated[bool | None, Column(BOOLEAN, COMPUTED)] = None

    @property
    def moved_value(self) -> bool:
        """Whether its own value moved from its sender to another account."""
        recipient = self.to_address or self.contract_address
        return self.status and self.value > 0 and recipient not in (None, self.from_address)

    @property
    def is_state_sync(self) -> bool:
        """Whether it is a state sync of Polygon, of which nodes have no trace. No other transaction
        has a gas limit of 0."""
        is_empty = self.gas_used == 0 and self.gas_limit == b"" and self.type == b""
        return is_empty and self.from_address == self.to_address == NOBODY

    @property
    def has_no_parties(self) -> bool:
        """Whether it is of nobody to nobody, without gas: data that the chain's protocol keeps in a
        block, such as refunds of gas on the OP Stack."""
        is_empty = self.gas_used == 0 and self.gas_limit == b"" and self.value == 0
        return is_empty and self.to_address is None and self.from_address == NOBODY

    @property
    def ran_code(self) -> bool:
        """Whether code may have run that creates contracts or moves coin: the transaction used more
        gas than moving its value takes, or it has input. Without a value it takes less since
        Amsterdam (EIP-2780), so that 21,000 gas may include a call's."""
        if self.gas_used == 0:
            return not (self.is_state_sync or self.has_no_parties)
        is_plain = self.gas_used == PLAIN_TRANSFER_GAS and self.method is None and self.value > 0
        return not is_plain


class StoredBody(NamedTuple):
    """A block's row of block_bodies, but for its number: a digest of the decompressed bytes, which
    does not depend on the compression, and the compressed bytes, as stored_blocks.py has them."""

    digest: Annotated[bytes, Column(BYTES, COMPUTED)]
    body: Annotated[bytes, Column(BYTES, PROVEN)]


class EventLog(NamedTuple):
    transaction_index: int
    log_index: int
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


class Withdrawal(NamedTuple):
    """A validator's or a builder's withdrawal (EIP-4895, EIP-7732), which costs no gas and is no
    transaction."""

    withdrawal_index: Annotated[int, Column(BIGINT, PROVEN)]
    # As headers' roots have it: with the flag 2^40 it is a builder's index.
    validator_index: Annotated[int, Column(BIGINT, PROVEN)]
    address: Annotated[bytes, Column(ADDRESS, PROVEN)]
    amount_wei: Annotated[int, Column(UINT256, PROVEN)]
    unit: Annotated[str | None, Column(TEXT, COMPUTED)] = None  # None: wei of the coin


class Uncle(NamedTuple):
    """A header of a replaced block that a later block includes (ommer). Its ordinal is the one that
    its miner's reward has among credits."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]  # of the block that includes it
    uncle_number: Annotated[int, Column(BIGINT, PROVEN)]
    hash: Annotated[bytes, Column(HASH, PROVEN)]
    miner: Annotated[bytes, Column(ADDRESS, PROVEN)]
    timestamp_s: Annotated[int, Column(TIMESTAMP, PROVEN)]


class DecodedBlock(NamedTuple):
    number: Annotated[int, Column(BIGINT, PROVEN, "number")]
    hash: Annotated[bytes, Column(HASH, PROVEN, "hash")]
    parent_hash: Annotated[bytes, Column(HASH, PROVEN, "parentHash")]
    # Column `timestamp` of the table.
    timestamp_s: Annotated[int, Column(TIMESTAMP, PROVEN, "timestamp")]
    miner: Annotated[bytes, Column(ADDRESS, PROVEN, "miner")]
    gas_used: Annotated[int, Column(UINT256, PROVEN, "gasUsed")]
    gas_limit: Annotated[int, Column(UINT256, PROVEN, "gasLimit")]
    transactions: list[DecodedTransaction]
    logs: list[EventLog]
    base_fee_per_gas: Annotated[int | None, Column(UINT256, PROVEN, "baseFeePerGas")] = None
    withdrawals: list[Withdrawal] | None = None  # None before EIP-4895
    size: Annotated[int | None, Column(BIGINT, COMPUTED, "size")] = None
    # Fees that the producer got, base fees that were burnt, and fees for blobs, which are burnt.
    producer_fees: Annotated[int, Column(UINT256, COMPUTED)] = 0
    burnt_fees: Annotated[int | None, Column(UINT256, COMPUTED)] = None  # None before EIP-1559
    # None where no transaction has blobs.
    blob_fees: Annotated[int | None, Column(UINT256, COMPUTED)] = None
    # Of blobs (EIP-4844): the gas used, the gas beyond the target so far, and the price that the
    # block's transactions paid, None where none has blobs.
    blob_gas_used: Annotated[int | None, Column(UINT256, PROVEN, "blobGasUsed")] = None
    excess_blob_gas: Annotated[int | None, Column(UINT256, PROVEN, "excessBlobGas")] = None
    blob_base_fee: Annotated[int | None, Column(UINT256, COMPUTED)] = None
    chain_fields: Annotated[str | None, Column(TEXT, SAID)] = None  # JSON of the chain's own fields
    # The hash of its requests to the consensus layer (EIP-7685).
    requests_hash: Annotated[bytes | None, Column(HASH, PROVEN, "requestsHash")] = None
    # The hash of the list of accounts that it touched (EIP-7928), and its slot (EIP-7843).
    block_access_list_hash: Annotated[bytes | None, Column(HASH, PROVEN, "blockAccessListHash")] = (
        None
    )
    slot_number: Annotated[int | None, Column(BIGINT, PROVEN, "slotNumber")] = None
    # Whether moving coin logs it (EIP-7708).
    coin_logs: Annotated[bool, Column(BOOLEAN, COMPUTED)] = False
    # The parts that no hash proves, in words; None where all agrees with the block's hash.
    unproven: Annotated[str | None, Column(TEXT, COMPUTED)] = None
    credits: tuple[Credit, ...] = ()
    uncles: tuple[Uncle, ...] = ()
    authorization_lists: tuple[AuthorizationList, ...] = ()
    message_event: tuple[str, str] | None = None  # as its Form has it
    body: StoredBody | None = None  # None where none is stored
    # Whether contracts of earlier transactions keep code and coin in a SELFDESTRUCT (EIP-6780).
    keeps_destroyed: bool = False
    has_statuses: bool = True  # False before Byzantium, whose receipts do not say what failed

    @property
    def contract_logs(self) -> Sequence[EventLog]:
        """The logs that contracts emitted: all but those of coin."""
        if not self.coin_logs:
            return self.logs
        return [log for log in self.logs if log.address != COIN_EMITTER]

    @property
    def ran_code(self) -> bool:
        return any(transaction.ran_code for transaction in self.transactions)

    def with_traces(self, failed: frozenset[int], known: frozenset[int]) -> Self:
        """Return the block with these transactions marked as failed, which before Byzantium only
        traces tell, and as traced, where its traces are not complete."""
        if not failed and not known:
            return self
        changes: dict[int, dict[str, Any]] = {index: {"traced": True} for index in known}
        for index in failed:
            changes.setdefault(index, {}).update(status=False, contract_address=None)
        transactions = [
            t._replace(**changes.get(t.transaction_index, {})) for t in self.transactions
        ]
        return self._replace(transactions=transactions)


BLOCK_COLUMNS = annotated_columns(DecodedBlock)
TRANSACTION_COLUMNS = annotated_columns(DecodedTransaction)


def _struct(name: str, json_names: Iterable[str], **lists: Any) -> Any:
    """Return a struct type for these fields of a JSON object. msgspec skips all other fields, which
    takes a third of the time that a dict takes. A missing list is an error of msgspec's; any other
    field may be missing or of any type, and is checked when it is decoded."""
    fields = [(name, Any, None) for name in dict.fromkeys(json_names) if name not in lists]
    of_lists = [(json_name, GenericAlias(list, element)) for json_name, element in lists.items()]
    return msgspec.defstruct(name, [*of_lists, *fields], gc=False)


def _json_names(columns: Iterable[Column]) -> list[str]:
    return [column.json_name for column in columns if column.json_name]


_LINKS = ("blockHash", "transactionIndex")
LogJson = _struct("LogJson", ("logIndex", "address", "data"), topics=Any)
_RECEIPT = [
    *_json_names(c for c in TRANSACTION_COLUMNS.values() if c.of_receipt),
    *_LINKS,
    "from",
    "transactionHash",
    "effectiveGasPrice",
    "type",
    *block_encoding.RECEIPT_NAMES,
    "gasUsedForL1",
]
_TRANSACTION = [
    *_json_names(c for c in TRANSACTION_COLUMNS.values() if not c.of_receipt),
    *_LINKS,
    *block_encoding.TRANSACTION_NAMES,
]
_BLOCK = [
    *_json_names(BLOCK_COLUMNS.values()),
    *(*block_encoding.HEADER_FIELDS, "withdrawals", "uncles"),
    "source",  # not of the JSON, but all of it, for fields that no struct has
]


class Json:
    """What read_json() reads: a struct, and for chains of a form of their own, by `of_forms`, one
    with the fields of all forms, which takes a quarter longer. Both are made when they are first
    read, as extensions bring the forms."""

    def __init__(self, plain: Callable[[], Any], of_forms: Callable[[], Any] | None = None) -> None:
        self._plain = plain
        self._of_forms = of_forms

    @cached_property
    def plain(self) -> Any:
        return self._plain()

    @cached_property
    def of_forms(self) -> Any:
        return self._of_forms and self._of_forms()


def _block_json(name: str, fields: Iterable[str], transactions: Any) -> Any:
    names = [*_BLOCK, *sorted(form_fields().headers), *sorted(fields)]
    return _struct(name, names, transactions=transactions)


def _form_transaction() -> Any:
    return _struct("FormTransactionJson", [*_TRANSACTION, *sorted(form_fields().transactions)])


TransactionJson = Json(lambda: _struct("TransactionJson", _TRANSACTION))
BlockJson = Json(
    lambda: _block_json("BlockJson", (), TransactionJson.plain),
    lambda: _block_json("FormBlockJson", form_fields().blocks, _form_transaction()),
)
ReceiptJson = Json(
    lambda: _struct("ReceiptJson", _RECEIPT, logs=LogJson),
    lambda: _struct("FormReceiptJson", [*_RECEIPT, *sorted(form_fields().receipts)], logs=LogJson),
)
ReceiptsJson = Json(  # None: the node does not have it yet
    lambda: GenericAlias(list, ReceiptJson.plain | None),
    lambda: GenericAlias(list, ReceiptJson.of_forms | None),
)
UncleJson = Json(lambda: _struct("UncleJson", block_encoding.HEADER_FIELDS))


def read_json(result: Any, json: Json, number: int) -> Any:
    """Return a node's result as a plain struct, or where the chain shows a form of its own as one
    with the fields of forms.

    The result may be msgspec.Raw, parsed JSON, or already a struct. Raises MalformedBlock, which
    names block `number`, where it is malformed.
    """
    first = result[0] if isinstance(result, list) and result else result
    if isinstance(first, msgspec.Struct):
        return result
    try:
        read = converted(result, json.plain)
        if json.of_forms is not None and _has_own_form(read):
            read = converted(result, json.of_forms)
    except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError) as error:
        raise MalformedBlock(f"block {number}: {error}") from None
    if json is BlockJson:
        read.source = result
    return read


def converted(result: Any, type_: Any) -> Any:
    """Return msgspec.Raw, parsed JSON or a struct of another form as a type."""
    decoder = json_decoder(type_)
    if isinstance(result, msgspec.Raw):
        return decoder.decode(result)
    return msgspec.convert(result, type_, from_attributes=True)  # noqa: TID251


def _has_own_form(read: Any) -> bool:
    """Return whether a block, a receipt or any of several receipts has a type that is not
    Ethereum's, or a fee for L1."""
    if isinstance(read, BlockJson.plain):
        return any(t.type not in ETHEREUM_TYPES for t in read.transactions)
    receipts = read if isinstance(read, list) else [read]
    return any(
        r.type not in ETHEREUM_TYPES or r.l1Fee is not None or r.gasUsedForL1 is not None
        for r in receipts
        if r is not None
    )
