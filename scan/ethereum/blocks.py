"""Blocks with their receipts decoded from a node's JSON, checked field by field. Pure."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from scan.hex import BadHex, data, quantity

MAX_TIMESTAMP_S = 9_000_000_000_000  # what PostgreSQL's timestamptz can hold
PLAIN_TRANSFER_GAS = 21_000
NEWEST_TYPE = 4  # of Ethereum's own transactions
WEI_PER_GWEI = 10**9
MAX_TOPICS = 4  # of a log: LOG4 is the last instruction for one
DELEGATION = bytes.fromhex("ef0100")  # EIP-7702: an account that borrows code is no contract


class MalformedBlock(Exception):
    """A block or receipt that contradicts itself; it is read again, never skipped."""


class DecodedTransaction(NamedTuple):
    """A transaction with what its receipt adds; amounts in wei."""

    transaction_index: int
    hash: bytes
    from_address: bytes
    to_address: bytes | None
    contract_address: bytes | None
    value: int
    gas_price: int
    gas_used: int
    status: bool
    ran_code: bool  # whether its recipient may be a contract
    # What follows is None where the node gives no such field.
    type: int = 0
    nonce: int | None = None
    gas_limit: int | None = None
    max_fee_per_gas: int | None = None
    max_priority_fee_per_gas: int | None = None
    max_fee_per_blob_gas: int | None = None
    cumulative_gas_used: int | None = None
    method: bytes | None = None  # the first bytes of its input, at most 4; None without input
    blob_versioned_hashes: tuple[bytes, ...] | None = None


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
    number: int
    hash: bytes
    parent_hash: bytes
    timestamp_s: int
    miner: bytes
    gas_used: int
    gas_limit: int
    transactions: list[DecodedTransaction]
    logs: list[EventLog]
    base_fee_per_gas: int | None = None  # before EIP-1559
    withdrawals: list[Withdrawal] | None = None  # None: the chain had none yet


def decode_block(block: Any, receipts: Any, number: int) -> DecodedBlock:
    """DecodedBlock `number` of eth_getBlockByNumber (with transactions) and its receipts.

    An iterator of receipts gives as many as there are transactions.

    Raises MalformedBlock when a field is missing or wrong, or the receipts are not this block's.
    """
    try:
        return _block(block, receipts, number)
    except (BadHex, KeyError, TypeError, AttributeError, IndexError) as error:
        raise MalformedBlock(f"block {number}: {type(error).__name__}: {error}") from error


def _block(block: Any, receipts: Any, number: int) -> DecodedBlock:
    block_hash = block["hash"]
    _require(quantity(block["number"]) == number, number, "it has another number")
    _require(isinstance(block["transactions"], list), number, "it has no list of transactions")
    _require(isinstance(receipts, list | Iterator), number, "it has no list of receipts")
    if isinstance(receipts, list):
        count = len(block["transactions"])
        _require(len(receipts) == count, number, "receipts are missing or too many")
    timestamp_s = quantity(block["timestamp"])
    _require(timestamp_s <= MAX_TIMESTAMP_S, number, "its timestamp is beyond any calendar")
    needs_status = "baseFeePerGas" in block  # London came long after Byzantium
    transactions = []
    logs: list[EventLog] = []
    for index, (transaction, receipt) in enumerate(
        zip(block["transactions"], receipts, strict=True)
    ):
        if not (transaction["blockHash"] == receipt["blockHash"] == block_hash):
            raise MalformedBlock(f"block {number}: a part belongs to another block")
        index_field = transaction["transactionIndex"]
        if quantity(index_field) != index or (
            receipt["transactionIndex"] != index_field
            and quantity(receipt["transactionIndex"]) != index
        ):
            raise MalformedBlock(f"block {number}: an index is wrong")
        if receipt["transactionHash"] != transaction["hash"]:
            raise MalformedBlock(f"block {number}: a receipt is foreign")
        transactions.append(_transaction(index, transaction, receipt, needs_status))
        for log in receipt["logs"]:
            logs.append(_log(index, log))
    if any(a.log_index >= b.log_index for a, b in pairwise(logs)):
        raise MalformedBlock(f"block {number}: its logs are not in order")
    return DecodedBlock(
        number,
        data(block_hash, 32),
        data(block["parentHash"], 32),
        timestamp_s,
        data(block["miner"], 20),
        quantity(block["gasUsed"]),
        quantity(block["gasLimit"]),
        transactions,
        logs,
        _optional_quantity(block.get("baseFeePerGas")),
        _withdrawals(block.get("withdrawals"), number),
    )


def _withdrawals(found: Any, number: int) -> list[Withdrawal] | None:
    if found is None:
        return None
    withdrawals = [
        Withdrawal(
            quantity(each["index"]),
            quantity(each["validatorIndex"]),
            data(each["address"], 20),
            quantity(each["amount"]) * WEI_PER_GWEI,
        )
        for each in found
    ]
    for each in withdrawals:
        largest = max(each.withdrawal_index, each.validator_index)
        _require(largest < 2**63, number, "a withdrawal's index is beyond 63 bits")
        _require(each.amount_wei < 2**64 * WEI_PER_GWEI, number, "a withdrawal is beyond 64 bits")
    follow = all(a.withdrawal_index < b.withdrawal_index for a, b in pairwise(withdrawals))
    _require(follow, number, "its withdrawals are not in order")
    return withdrawals


def _require(holds: bool, number: int, reason: str) -> None:
    if not holds:
        raise MalformedBlock(f"block {number}: {reason}")


def _transaction(
    index: int, transaction: Any, receipt: Any, needs_status: bool
) -> DecodedTransaction:
    to_address = transaction.get("to")
    status = _status(receipt, needs_status)
    gas_used = quantity(receipt["gasUsed"])
    created = receipt.get("contractAddress") if to_address is None and status else None
    kind = _type(transaction, receipt)
    price = receipt.get("effectiveGasPrice") or transaction.get("gasPrice")
    if price is None and kind > NEWEST_TYPE:
        price = "0x0"  # such as deposits of a rollup, which nobody pays for
    input_ = transaction.get("input") or "0x"
    blob_hashes = transaction.get("blobVersionedHashes")
    return DecodedTransaction(
        index,
        data(transaction["hash"], 32),
        data(transaction["from"], 20),
        None if to_address is None else data(to_address, 20),
        None if created is None else data(created, 20),
        quantity(transaction["value"]),
        quantity(price),
        gas_used,
        status,
        gas_used != PLAIN_TRANSFER_GAS or input_ != "0x",
        kind,
        _optional_quantity(transaction.get("nonce")),
        _optional_quantity(transaction.get("gas")),
        _optional_quantity(transaction.get("maxFeePerGas")),
        _optional_quantity(transaction.get("maxPriorityFeePerGas")),
        _optional_quantity(transaction.get("maxFeePerBlobGas")),
        _optional_quantity(receipt.get("cumulativeGasUsed")),
        data(input_[:10]) or None,
        None if blob_hashes is None else tuple([data(each, 32) for each in blob_hashes]),
    )


def _optional_quantity(value: Any) -> int | None:
    return None if value is None else quantity(value)


def _type(transaction: Any, receipt: Any) -> int:
    """EIP-2718's, of one byte; nodes from before it give none."""
    kind = transaction.get("type") or receipt.get("type")
    found = 0 if kind is None else quantity(kind)
    if found > 255:
        raise BadHex("a transaction's type is more than a byte")
    return found


def _status(receipt: Any, needs_status: bool) -> bool:
    """EIP-658; receipts before Byzantium have a state root instead and do not record failure."""
    status = receipt.get("status")
    if status is None:
        if needs_status and not receipt.get("root"):
            raise BadHex("a receipt has no status")
        return True
    return quantity(status) != 0


def _log(transaction_index: int, log: Any) -> EventLog:
    log_index = quantity(log["logIndex"])
    if log_index >= 2**31:
        raise BadHex("a log index is beyond 31 bits")
    topics = log["topics"]
    if len(topics) > MAX_TOPICS:
        raise BadHex("a log has more than four topics")
    return EventLog(
        transaction_index,
        log_index,
        data(log["address"], 20),
        tuple([data(topic, 32) for topic in topics]),
        data(log["data"]),
    )
