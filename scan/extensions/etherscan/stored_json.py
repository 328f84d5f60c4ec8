"""Transactions of stored blocks and their receipts in a node's JSON, without the node: those of
Ethereum's own form. What other chains add to them is not stored.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson

from scan.errors import NotFound
from scan.ethereum.block_encoding import TRANSACTION_FIELDS
from scan.ethereum.client import Call
from scan.ethereum.encoded_parts import logs_bloom
from scan.ethereum.forms.form import BLOB_GAS
from scan.ethereum.rlp_and_tries import join_list, keccak256, quantity_item, string_item
from scan.ethereum.stored_blocks import StoredTransaction
from scan.extensions.logs import queries as logs
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.queries import blocks, transactions

Record = Mapping[str, Any]
_MOST = 2**31
_LEGACY_CHAIN = 35  # the least `v` of a transaction for one chain alone (EIP-155)


def transaction(transaction_hash: str) -> dict[str, Any] | None:
    """Return what eth_getTransactionByHash does; None where the node has to be asked."""
    return _made(transaction_hash, _transaction)


def transaction_at(block: str, index: str) -> dict[str, Any] | None:
    """Return what eth_getTransactionByBlockNumberAndIndex does; None as transaction() does."""
    number, position = _number(block), _number(index)
    if number is None or position is None:
        return None
    [row] = logs.rows_at(reader(), [(number, position)])
    return None if row is None else transaction(row["hash"])


def transaction_count(block: str) -> str | None:
    """Return what eth_getBlockTransactionCountByNumber does; None as transaction() does."""
    number = _number(block)
    with suppress(NotFound):
        if number is not None:
            return hex(orjson.loads(blocks.record(reader(), number))["txCount"])
    return None


def _number(text: str) -> int | None:
    """Return a number that the index may have; None for a tag, which is the node's."""
    number = int(text, 16) if text.startswith("0x") else _MOST
    return number if number < _MOST else None


def receipt(transaction_hash: str) -> dict[str, Any] | None:
    """Return what eth_getTransactionReceipt does; None as transaction() does."""
    return _made(transaction_hash, _receipt)


def _made(
    transaction_hash: str, make: Callable[[Record, StoredTransaction], dict[str, Any]]
) -> dict[str, Any] | None:
    text = transactions.get(reader(), data(transaction_hash, 32))
    if text is None:
        return None
    record = orjson.loads(text)
    own_fees = {record["feeParts"]["l1"], record["feeParts"]["operator"]} - {None}
    if own_fees or "chainFields" in record or record["type"] not in TRANSACTION_FIELDS:
        return None
    indexed = transactions.indexed(record)
    block = reader().sources.block_bodies.block(indexed.block_number, data(indexed.block_hash))
    return None if block is None else make(record, block.transaction(indexed.transaction_index))


def _transaction(record: Record, sent: StoredTransaction) -> dict[str, Any]:
    v = int(sent.fields.get("v") or "0x0", 16)
    if "chainId" not in sent.fields and v >= _LEGACY_CHAIN:
        chain_id = {"chainId": hex((v - _LEGACY_CHAIN) // 2)}
    else:
        chain_id = {}
    return {
        **sent.fields,
        **chain_id,
        "input": to_hex(sent.input),
        "hash": record["hash"],
        **_position(record),
        "from": record["fromAddress"],
        "gasPrice": hex(int(record["gasPrice"])),
    }


def _position(record: Record) -> dict[str, Any]:
    return {
        "blockHash": record["blockHash"],
        "blockNumber": hex(record["blockNumber"]),
        "blockTimestamp": hex(int(datetime.fromisoformat(record["timestamp"]).timestamp())),
        "transactionIndex": hex(record["transactionIndex"]),
    }


def _receipt(record: Record, sent: StoredTransaction) -> dict[str, Any]:
    position, received = _position(record), sent.receipt
    of_log = {**position, "transactionHash": record["hash"]}
    raw = [(log.address, log.topics, log.data) for log in received.logs or ()]
    outcome = {} if received.status is None else {"status": hex(received.status)}
    del position["blockTimestamp"]
    return {
        **received.fields,
        **outcome,
        "cumulativeGasUsed": hex(received.cumulative_gas_used),
        "logs": [
            {
                "address": to_hex(log.address),
                "topics": [*map(to_hex, log.topics)],
                "data": to_hex(log.data),
                **of_log,
                "logIndex": hex(log.log_index),
                "removed": False,
            }
            for log in received.logs or ()
        ],
        "logsBloom": to_hex(logs_bloom(raw)),
        "transactionHash": record["hash"],
        **position,
        "gasUsed": hex(int(record["gasUsed"])),
        "effectiveGasPrice": hex(int(record["gasPrice"])),
        **_blob_gas(record),
        "from": record["fromAddress"],
        "to": record["toAddress"],
        "contractAddress": None if record["toAddress"] else _created(record, sent.nonce),
    }


def _blob_gas(record: Record) -> dict[str, str]:
    hashes: Sequence[str] = record["blobVersionedHashes"] or ()
    if not hashes:
        return {}
    gas = BLOB_GAS * len(hashes)
    price = int(record["feeParts"]["blob"] or 0) // gas
    return {"blobGasUsed": hex(gas), "blobGasPrice": hex(price)}


def _created(record: Record, nonce: int) -> str:
    """Return the address at which a transaction creates a contract, or would have."""
    items = string_item(record["fromAddress"]) + quantity_item(hex(nonce))
    return to_hex(keccak256(join_list([bytes.fromhex(items)]))[12:])


def made(call: Call) -> object:
    """Return the result of a call from what is stored; None where the node has to be asked."""
    make = MADE.get(call.method)
    return None if make is None else make(*call.params)


MADE: Mapping[str, Callable[..., object]] = {
    "eth_getBlockTransactionCountByNumber": transaction_count,
    "eth_getTransactionByHash": transaction,
    "eth_getTransactionByBlockNumberAndIndex": transaction_at,
    "eth_getTransactionReceipt": receipt,
}
