"""Transactions and logs decoded field by field, as simply as can be.

decode_block() is compared with them; they share nothing but scan/hex.py with it.
"""

from typing import Any

from scan.ethereum.blocks import DecodedTransaction, EventLog
from scan.hex import data, quantity


def _bytes(value: Any) -> bytes | None:
    if value is None:
        return None
    number = quantity(value)
    return number.to_bytes((number.bit_length() + 7) // 8)


def _address(value: Any) -> bytes | None:
    return None if value is None else data(value, 20)


def _fee(sent: Any, receipt: Any) -> int:
    price = receipt.get("effectiveGasPrice") or sent.get("gasPrice") or "0x0"
    blobs = len(sent.get("blobVersionedHashes") or ())
    blob_price = quantity(receipt.get("blobGasPrice") or "0x0")
    return quantity(price) * quantity(receipt["gasUsed"]) + 131_072 * blobs * blob_price


def transaction(index: int, sent: Any, receipt: Any) -> DecodedTransaction:
    status = receipt.get("status") is None or quantity(receipt["status"]) != 0
    blobs = sent.get("blobVersionedHashes")
    type_ = sent.get("type") or receipt.get("type")
    price = receipt.get("effectiveGasPrice") or sent.get("gasPrice")
    is_created = sent.get("to") is None and status
    is_unknown = type_ is not None and quantity(type_) > 4  # no chain's form knows it
    return DecodedTransaction(
        transaction_index=index,
        hash=data(sent["hash"], 32),
        from_address=data(sent.get("from") or receipt["from"], 20),
        to_address=_address(sent.get("to")),
        contract_address=_address(receipt.get("contractAddress")) if is_created else None,
        value=quantity((sent.get("value") or "0x0") if is_unknown else sent["value"]),
        gas_price=0 if price is None and is_unknown else quantity(price),
        gas_used=quantity(receipt["gasUsed"]),
        status=status,
        fee=_fee(sent, receipt),
        type=_bytes(type_) or b"",
        nonce=_bytes(sent.get("nonce")),
        gas_limit=_bytes(sent.get("gas")),
        max_fee_per_gas=_bytes(sent.get("maxFeePerGas")),
        max_priority_fee_per_gas=_bytes(sent.get("maxPriorityFeePerGas")),
        max_fee_per_blob_gas=_bytes(sent.get("maxFeePerBlobGas")),
        cumulative_gas_used=_bytes(receipt.get("cumulativeGasUsed")),
        method=data(sent.get("input") or "0x")[:4] or None,
        blob_versioned_hashes=None if blobs is None else tuple(data(h, 32) for h in blobs),
        blob_gas_price=None if blobs is None else _bytes(receipt.get("blobGasPrice")),
        chain_fields='{"typeName":"unknown"}' if is_unknown else None,
    )


def logs(receipts: list[Any]) -> list[EventLog]:
    return [
        EventLog(
            index,
            quantity(log["logIndex"]),
            data(log["address"], 20),
            tuple(data(topic, 32) for topic in log["topics"]),
            data(log["data"]),
        )
        for index, receipt in enumerate(receipts)
        for log in receipt["logs"]
    ]
