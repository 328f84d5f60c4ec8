"""Blocks with their receipts decoded from a node's JSON, checked field by field. Pure.

The records here list the tables' columns: a field of DecodedTransaction, of Withdrawal or, where it
is annotated with a Column, of DecodedBlock is the column of that name. The node's JSON is read, and
rows are written, copied, exported, filled and compared with the node, by these declarations.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, starmap
from operator import mul
from types import GenericAlias
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import astuple

from scan.ethereum.block_encoding import HEADER_FIELDS, RECEIPT_NAMES, TRANSACTION_NAMES
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    BOOLEAN,
    BYTES,
    HASH,
    HASHES,
    INTEGER,
    TIMESTAMP,
    UINT256,
    UNSIGNED,
    Column,
    annotated_columns,
    read_value,
    read_values,
)
from scan.hex import BadHex, data, quantity

PLAIN_TRANSFER_GAS = 21_000
BLOB_GAS = 131_072  # EIP-4844
NEWEST_TYPE = b"\4"  # of Ethereum's own transactions
WEI_PER_GWEI = 10**9
METHOD_CHARACTERS = 10  # of the text of an input: its first four bytes
MAX_TOPICS = 4  # of a log: LOG4 is the last instruction for one
DELEGATION = bytes.fromhex("ef0100")  # EIP-7702: an account that borrows code is no contract


class MalformedBlock(Exception):
    """A block or receipt that contradicts itself; it is read again, never skipped."""


class DecodedTransaction(NamedTuple):
    """A transaction with what its receipt adds, as its row has it; amounts in wei.

    Fields of the type UNSIGNED but the type are None where the node gives no such field.
    """

    transaction_index: Annotated[int, Column(INTEGER)]
    hash: Annotated[bytes, Column(HASH, "hash")]
    from_address: Annotated[bytes, Column(ADDRESS, "from")]
    to_address: Annotated[bytes | None, Column(ADDRESS, "to")]
    contract_address: Annotated[bytes | None, Column(ADDRESS, "contractAddress", of_receipt=True)]
    value: Annotated[int, Column(UINT256, "value")]
    gas_price: Annotated[int, Column(UINT256, "gasPrice")]
    gas_used: Annotated[int, Column(UINT256, "gasUsed", of_receipt=True)]
    status: Annotated[bool, Column(BOOLEAN, "status", of_receipt=True)]
    fee: Annotated[int, Column(UINT256)]  # what its sender paid for it in all
    type: Annotated[bytes, Column(UNSIGNED, "type")] = b""
    nonce: Annotated[bytes | None, Column(UNSIGNED, "nonce")] = None
    gas_limit: Annotated[bytes | None, Column(UNSIGNED, "gas")] = None
    max_fee_per_gas: Annotated[bytes | None, Column(UNSIGNED, "maxFeePerGas")] = None
    max_priority_fee_per_gas: Annotated[bytes | None, Column(UNSIGNED, "maxPriorityFeePerGas")] = (
        None
    )
    max_fee_per_blob_gas: Annotated[bytes | None, Column(UNSIGNED, "maxFeePerBlobGas")] = None
    cumulative_gas_used: Annotated[
        bytes | None, Column(UNSIGNED, "cumulativeGasUsed", of_receipt=True)
    ] = None
    # The first bytes of its input, at most 4.
    method: Annotated[bytes | None, Column(BYTES, "input")] = None
    blob_versioned_hashes: Annotated[
        tuple[bytes, ...] | None, Column(HASHES, "blobVersionedHashes")
    ] = None
    blob_gas_price: Annotated[
        bytes | None,
        Column(UNSIGNED, "blobGasPrice", of_receipt=True),
    ] = None

    @property
    def ran_code(self) -> bool:
        """Whether its recipient may be a contract."""
        return self.gas_used != PLAIN_TRANSFER_GAS or self.method is not None


class EventLog(NamedTuple):
    transaction_index: int
    log_index: int
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


class Withdrawal(NamedTuple):
    """What a validator withdrew (EIP-4895); it costs no gas and makes no transaction."""

    withdrawal_index: int
    validator_index: int
    address: bytes
    amount_wei: int


class DecodedBlock(NamedTuple):
    number: Annotated[int, Column(BIGINT, "number")]
    hash: Annotated[bytes, Column(HASH, "hash")]
    parent_hash: Annotated[bytes, Column(HASH, "parentHash")]
    timestamp_s: Annotated[int, Column(TIMESTAMP, "timestamp")]  # its column is `timestamp`
    miner: Annotated[bytes, Column(ADDRESS, "miner")]
    gas_used: Annotated[int, Column(UINT256, "gasUsed")]
    gas_limit: Annotated[int, Column(UINT256, "gasLimit")]
    transactions: list[DecodedTransaction]
    logs: list[EventLog]
    base_fee_per_gas: Annotated[int | None, Column(UINT256, "baseFeePerGas")] = None
    withdrawals: list[Withdrawal] | None = None  # None: the chain had none yet
    size: Annotated[int | None, Column(BIGINT, "size")] = None
    # What its transactions paid that its producer got; and nobody, of base fees and for blobs.
    producer_fees: Annotated[int, Column(UINT256)] = 0
    burnt_fees: Annotated[int | None, Column(UINT256)] = None  # None before EIP-1559
    blob_fees: Annotated[int | None, Column(UINT256)] = None  # None where no transaction has blobs


BLOCK_COLUMNS = annotated_columns(DecodedBlock)
TRANSACTION_COLUMNS = annotated_columns(DecodedTransaction)


def _struct(name: str, json_names: Iterable[str], **lists: Any) -> Any:
    """Of these fields of a JSON object, of which msgspec reads no others: a third of the time of a
    dict. What lacks one of the lists is an error of msgspec's; any other value is checked here."""
    fields = [(name, Any, None) for name in dict.fromkeys(json_names) if name not in lists]
    of_lists = [(json_name, GenericAlias(list, element)) for json_name, element in lists.items()]
    return msgspec.defstruct(name, [*of_lists, *fields], gc=False)


def _json_names(columns: Iterable[Column]) -> list[str]:
    return [column.json_name for column in columns if column.json_name]


_LINKS = ("blockHash", "transactionIndex")
LogJson = _struct("LogJson", ("logIndex", "address", "data"), topics=Any)
ReceiptJson = _struct(
    "ReceiptJson",
    [
        *_json_names(c for c in TRANSACTION_COLUMNS.values() if c.of_receipt),
        *(*_LINKS, "from", "transactionHash", "effectiveGasPrice", "type", *RECEIPT_NAMES),
    ],
    logs=LogJson,
)
TransactionJson = _struct(
    "TransactionJson",
    [
        *_json_names(c for c in TRANSACTION_COLUMNS.values() if not c.of_receipt),
        *(*_LINKS, *TRANSACTION_NAMES),
    ],
)
BlockJson = _struct(
    "BlockJson",
    [*_json_names(BLOCK_COLUMNS.values()), *HEADER_FIELDS, "withdrawals"],
    transactions=TransactionJson,
)
ReceiptsJson = GenericAlias(list, ReceiptJson | None)  # none: the node does not have it yet
_DECODERS = {type_: msgspec.json.Decoder(type_) for type_ in (BlockJson, ReceiptJson, ReceiptsJson)}


def read_json(result: Any, type_: Any, number: int) -> Any:
    """A result of a node as a struct above; raises MalformedBlock where it has another form.

    The result is as msgspec.Raw, as parsed, or a struct already.
    """
    try:
        if isinstance(result, msgspec.Raw):
            return _DECODERS[type_].decode(result)
        return msgspec.convert(result, type_)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise MalformedBlock(f"block {number}: {error}") from None


def decode_block(block: Any, receipts: Any, number: int) -> DecodedBlock:
    """DecodedBlock `number` of eth_getBlockByNumber (with transactions) and its receipts.

    Both are of any form that read_json() takes. An iterator gives as many receipts as there are
    transactions; the logs of each are decoded, and let go, before the next one is taken.

    Raises MalformedBlock when a field is missing or wrong, or the receipts are not this block's.
    """
    block = read_json(block, BlockJson, number)
    logs: list[EventLog] = []
    if isinstance(receipts, Iterator):
        read = []
        for index, result in enumerate(receipts):
            receipt = read_json(result, ReceiptJson, number)
            logs += _checked(number, _logs, [receipt.logs], index)
            receipt.logs = ()
            read.append(receipt)
    else:
        read = read_json(receipts, ReceiptsJson, number)
        _require(None not in read, number, "a receipt is missing")
        logs = _checked(number, _logs, [receipt.logs for receipt in read], 0)
    decoded: DecodedBlock = _checked(number, _block, block, read, logs, number)
    return decoded


def _checked(number: int, decode: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return decode(*arguments)
    except (BadHex, KeyError, TypeError, AttributeError, IndexError) as error:
        raise MalformedBlock(f"block {number}: {type(error).__name__}: {error}") from error


def _block(block: Any, receipts: Sequence[Any], logs: list[EventLog], number: int) -> DecodedBlock:
    _require(quantity(block.number) == number, number, "it has another number")
    _require(len(receipts) == len(block.transactions), number, "receipts are missing or too many")
    _require(
        all(a.log_index < b.log_index for a, b in pairwise(logs)),
        number,
        "its logs are not in order",
    )
    decoded = DecodedBlock(
        **{
            name: read_value(column, getattr(block, column.json_name))
            for name, column in BLOCK_COLUMNS.items()
            if column.json_name
        },
        transactions=_transactions(block, receipts, number) if receipts else [],
        logs=logs,
        withdrawals=decode_withdrawals(block.withdrawals, number),
    )
    return with_fees(decoded)


def with_fees(block: DecodedBlock) -> DecodedBlock:
    """The block with what became of the fees of its transactions, by EIP-1559 and EIP-4844."""
    base_fee = block.base_fee_per_gas
    floor = base_fee or 0
    tips = [(t.gas_price - floor) * t.gas_used for t in block.transactions if t.gas_price > floor]
    blob_fees = [
        t.fee - t.gas_price * t.gas_used for t in block.transactions if t.blob_gas_price is not None
    ]
    return block._replace(
        producer_fees=sum(tips),
        burnt_fees=None if base_fee is None else base_fee * block.gas_used,
        blob_fees=sum(blob_fees) if blob_fees else None,
    )


def _require(holds: bool, number: int, reason: str) -> None:
    if not holds:
        raise MalformedBlock(f"block {number}: {reason}")


def _transactions(block: Any, receipts: Sequence[Any], number: int) -> list[DecodedTransaction]:
    sent, received = _fields(block.transactions), _fields(receipts)
    _require_links(block.hash, sent, received, number)
    # London came long after Byzantium.
    statuses = _statuses(received, needs_status=block.baseFeePerGas is not None)
    creations = [
        address if to is None and status else None
        for address, to, status in zip(
            received["contractAddress"], sent["to"], statuses, strict=True
        )
    ]
    # EIP-2718's, of one byte; nodes from before it give none.
    types = [a or b or "0x0" for a, b in zip(sent["type"], received["type"], strict=True)]
    prices = [a or b for a, b in zip(received["effectiveGasPrice"], sent["gasPrice"], strict=True)]
    if None in prices:
        prices = list(map(_price, prices, types))
    # Nodes give a block's price of blobs to transactions without any, too.
    blob_prices = [
        None if hashes is None else price
        for hashes, price in zip(sent["blobVersionedHashes"], received["blobGasPrice"], strict=True)
    ]
    derived = {
        "contract_address": creations,
        "gas_price": prices,
        "type": types,
        "method": [(input_ or "0x")[:METHOD_CHARACTERS] for input_ in sent["input"]],
        "blob_gas_price": blob_prices,
    }
    columns = {
        name: read_values(
            column,
            derived.get(name) or (received if column.of_receipt else sent)[column.json_name],
        )
        for name, column in TRANSACTION_COLUMNS.items()
        if name not in ("transaction_index", "status", "fee")
    }
    if any(len(type_) > 1 for type_ in columns["type"]):
        raise BadHex("a transaction's type is more than a byte")
    columns |= {"transaction_index": list(range(len(receipts))), "status": statuses}
    columns["fee"] = _fees(columns)
    columns["method"] = [method or None for method in columns["method"]]
    rows = zip(*(columns[name] for name in TRANSACTION_COLUMNS), strict=True)
    return list(starmap(DecodedTransaction, rows))


def _fees(columns: dict[str, list[Any]]) -> list[int]:
    """What the sender of each transaction paid for gas, and for blobs."""
    fees = list(map(mul, columns["gas_price"], columns["gas_used"]))
    for index, price in enumerate(columns["blob_gas_price"]):
        if price is not None:
            blobs = len(columns["blob_versioned_hashes"][index])
            fees[index] += BLOB_GAS * blobs * int.from_bytes(price)
    return fees


def _fields(records: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    """The values of each field of JSON objects; to take them all at once is the fastest."""
    values = zip(*map(astuple, records), strict=True)
    return dict(zip(records[0].__struct_fields__, values, strict=True))


def _require_links(
    block_hash: Any, sent: dict[str, Any], received: dict[str, Any], number: int
) -> None:
    """By text first, as nearly all nodes write the same value always."""
    hashes = (block_hash,) * len(sent["hash"])
    _require(
        sent["blockHash"] == received["blockHash"] == hashes,
        number,
        "a part belongs to another block",
    )
    for fields in (sent, received):
        for index, text in enumerate(fields["transactionIndex"]):
            if text != hex(index) and quantity(text) != index:
                raise MalformedBlock(f"block {number}: an index is wrong")
    _require(sent["hash"] == received["transactionHash"], number, "a receipt is foreign")


def _statuses(received: dict[str, Any], *, needs_status: bool) -> list[bool]:
    """EIP-658; receipts before Byzantium have a state root instead and do not record failure."""
    if needs_status and any(
        status is None and not root
        for status, root in zip(received["status"], received["root"], strict=True)
    ):
        raise BadHex("a receipt has no status")
    return [status in ("0x1", None) or quantity(status) != 0 for status in received["status"]]


def _price(price: Any, type_: Any) -> Any:
    """Nothing where the transaction is of a rollup's own, such as a deposit, which nobody pays."""
    is_own = UNSIGNED.read(type_) > NEWEST_TYPE
    return "0x0" if price is None and is_own else price


def _logs(lists: Sequence[Sequence[Any]], first_index: int) -> list[EventLog]:
    """Those of consecutive transactions."""
    records = list(chain.from_iterable(lists))
    if not records:
        return []
    fields = _fields(records)
    counts = list(map(len, fields["topics"]))
    if max(counts) > MAX_TOPICS:
        raise BadHex("a log has more than four topics")
    topics = iter(read_values(_TOPIC, list(chain.from_iterable(fields["topics"]))))
    return list(
        map(
            EventLog,
            [index for index, logs in enumerate(lists, start=first_index) for _ in logs],
            [read_value(_LOG_INDEX, value) for value in fields["logIndex"]],
            read_values(_ADDRESS, fields["address"]),
            [tuple(islice(topics, count)) for count in counts],
            [read_value(_DATA, value) for value in fields["data"]],
        )
    )


_TOPIC, _LOG_INDEX = Column(HASH, "topics"), Column(INTEGER, "logIndex")
_ADDRESS, _DATA = Column(ADDRESS, "address"), Column(BYTES, "data")


def decode_withdrawals(entries: Any, number: int) -> list[Withdrawal] | None:
    if entries is None:
        return None
    withdrawals = [
        Withdrawal(
            withdrawal_index=quantity(entry["index"]),
            validator_index=quantity(entry["validatorIndex"]),
            address=data(entry["address"], 20),
            amount_wei=quantity(entry["amount"]) * WEI_PER_GWEI,
        )
        for entry in entries
    ]
    for withdrawal in withdrawals:
        largest = max(withdrawal.withdrawal_index, withdrawal.validator_index)
        _require(largest < 2**63, number, "a withdrawal's index is beyond 63 bits")
        is_bounded = withdrawal.amount_wei < 2**64 * WEI_PER_GWEI
        _require(is_bounded, number, "a withdrawal is beyond 64 bits")
    follow = all(a.withdrawal_index < b.withdrawal_index for a, b in pairwise(withdrawals))
    _require(follow, number, "its withdrawals are not in order")
    return withdrawals
