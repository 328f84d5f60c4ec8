"""Transactions of blocks that are not stored, and their receipts, read from the node: a whole block
by its hash, which proves it, or transactions by theirs, which are compared with the indexed ones,
and whose receipts nothing proves.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from scan.errors import UpstreamFailed
from scan.ethereum import (
    block_hashing,
    blocks,
    client,
    request_node,
    served_chain,
    stored_blocks,
    transaction_checks,
)
from scan.ethereum.block_validation import check_body
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.forms.matching import ETHEREUM_TYPES
from scan.ethereum.stored_blocks import Receipt, StoredTransaction, TransactionLog
from scan.hex import BadHex, data, json_array, json_object, quantity, quantity_or_none, to_hex

# In a node's JSON a log takes 400 to 800 bytes besides its data.
MOST_BYTES = 16 * 1024 * 1024
# Of a block, and of its receipts, that are read to prove one: a full block of 30 million gas has
# mostly 1 MB of each, and takes the processor 0.1 s.
MOST_PROVING_BYTES = 4 * 1024 * 1024
AT_ONCE = 200
NO_RECEIPT = Receipt(None, 0, None, None)

REFUSED = "The node does not return this transaction."
MISSING = "The node does not have this transaction now."
OTHER_BLOCK = "The node has this transaction in another block than the index."
MALFORMED = "The node's response is malformed."


class TransactionUnavailable(UpstreamFailed):
    """The node does not give a transaction, or gives another than the indexed one."""


class IndexedTransaction(NamedTuple):
    """An indexed transaction and its index in its block; hashes and addresses are hex."""

    hash: str
    block_number: int
    block_hash: str
    transaction_index: int
    to_address: str | None


def proven_block(
    node: request_node.NodeSession, block: served_chain.BlockId
) -> stored_blocks.StoredBlock | None:
    """Return a block as it would be stored, read from the node; None where this is not what its
    hash proves, or too much. Raises the errors of NodeSession."""
    calls = [
        client.Call("eth_getBlockByHash", (to_hex(block.hash), True)),
        client.Call("eth_getBlockReceipts", (block,)),
    ]
    sent, received = node.results(calls, MOST_PROVING_BYTES)
    if not isinstance(sent, dict) or not isinstance(received, list):
        return None
    with suppress(blocks.MalformedBlock, ValueError, TypeError, LookupError):
        header = blocks.read_json(sent, blocks.BlockJson, block.number)
        receipts = [blocks.read_json(r, blocks.ReceiptJson, block.number) for r in received]
        is_header = block_hashing.encoded_header(header) or (
            block_hashing.encoded_with_unknown_fields(header)
        )
        verdict = check_body(header, receipts, computes_senders=False)
        if is_header and data(header.hash, 32) == block.hash and not verdict.contradiction:
            encodings = block_hashing.form_of_roots(header, receipts, None).encodings
            encoded = header.transactions, receipts, verdict.sent, verdict.received
            body = stored_blocks.body_of(*encoded, encodings)
            return body and stored_blocks.StoredBlock(block.number, body)
    return None


def read(
    node: request_node.NodeSession,
    needed: Sequence[IndexedTransaction],
    *,
    with_receipts: bool = True,
) -> Iterator[tuple[IndexedTransaction, StoredTransaction]]:
    """Yield transactions, read in batches; those of which receipts are not read, or are too large,
    have NO_RECEIPT.

    Raises TransactionUnavailable, also where the node has one in another block, and the errors of
    NodeSession.
    """
    for start in range(0, len(needed), AT_ONCE):
        batch = needed[start : start + AT_ONCE]
        hashes = [(indexed.hash,) for indexed in batch]
        calls = [client.Call("eth_getTransactionByHash", hash_) for hash_ in hashes]
        if with_receipts:  # the last, which may be left out where all together are too large
            calls += [client.Call("eth_getTransactionReceipt", hash_) for hash_ in hashes]
        results = node.results(calls, MOST_BYTES)
        receipts = results[len(batch) :] if with_receipts else [None] * len(batch)
        for indexed, sent, receipt in zip(batch, results[: len(batch)], receipts, strict=True):
            has_receipt = with_receipts and not isinstance(receipt, client.AnswerTooLarge)
            try:
                yield indexed, _transaction(indexed, sent, receipt, has_receipt=has_receipt)
            except (BadHex, KeyError, transaction_checks.Contradiction):
                raise TransactionUnavailable(MALFORMED) from None


def _transaction(
    indexed: IndexedTransaction, sent: Any, receipt: Any, *, has_receipt: bool
) -> StoredTransaction:
    require_same(indexed, sent)
    transaction_checks.proof_of(sent, transaction_checks.Proof.HASH)
    if sent.get("type") not in ETHEREUM_TYPES:  # others may lack what Ethereum's all have
        sent = {"nonce": "0x0", "gas": "0x0", "input": "0x", **sent}
    fixed = quantity(sent["nonce"]), quantity(sent["gas"]), data(sent["input"])
    if not has_receipt:
        return StoredTransaction(*fixed, NO_RECEIPT, sent)
    require_same(indexed, receipt, "transactionHash")
    logs: list[TransactionLog] = []
    for log in map(json_object, json_array(receipt["logs"])):
        topics = tuple(data(topic, 32) for topic in json_array(log["topics"]))
        index = quantity(log["logIndex"])
        is_foreign = data(log["transactionHash"], 32) != data(indexed.hash)
        if len(topics) > MAX_TOPICS or log.get("removed") is True or is_foreign or index >= 2**31:
            raise TransactionUnavailable(MALFORMED)
        logs.append(TransactionLog(data(log["address"], 20), topics, data(log["data"]), index))
    if any(after.log_index <= before.log_index for before, after in pairwise(logs)):
        raise TransactionUnavailable(MALFORMED)
    gas = quantity(receipt["cumulativeGasUsed"])
    status = quantity_or_none(receipt.get("status"))
    read_receipt = Receipt(status, gas, len(logs), tuple(logs), is_proven=False)
    return StoredTransaction(*fixed, read_receipt, sent)


def require_same(indexed: IndexedTransaction, answer: Any, hash_name: str = "hash") -> None:
    """Raise TransactionUnavailable unless a node's answer is this transaction in this block.

    `hash_name` is the field with the hash: receipts have transactionHash.
    """
    if isinstance(answer, client.RpcError):
        raise TransactionUnavailable(REFUSED)
    if answer is None:
        raise TransactionUnavailable(MISSING)
    answer = json_object(answer)
    if data(answer["blockHash"], 32) != data(indexed.block_hash):
        raise TransactionUnavailable(OTHER_BLOCK)
    to = answer.get("to")
    if (
        data(answer[hash_name], 32) != data(indexed.hash)
        or quantity(answer["blockNumber"]) != indexed.block_number
        or (to and data(to, 20)) != (indexed.to_address and data(indexed.to_address, 20))
    ):
        raise TransactionUnavailable(MALFORMED)


def _log(indexed: IndexedTransaction, log: Mapping[str, Any]) -> TransactionLog:
    topics = tuple(data(topic, 32) for topic in json_array(log["topics"]))
    index = quantity(log["logIndex"])
    is_foreign = data(log["transactionHash"], 32) != data(indexed.hash)
    if len(topics) > MAX_TOPICS or log.get("removed") is True or is_foreign or index >= 2**31:
        raise TransactionUnavailable(MALFORMED)
    return TransactionLog(data(log["address"], 20), topics, data(log["data"]), index)
