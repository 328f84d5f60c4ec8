"""Transactions and their receipts from the node: the parts that the index does not store.

These are the input, of which four bytes are stored; the logs; and nonce, gas limit, cumulative gas
and the receipt's status where a row is older than their columns. The node's answer is compared with
the indexed transaction. It is cached by its block's hash, for which it never changes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any, NamedTuple

from scan.cached_values import SizedCache
from scan.ethereum import blocks, request_node, transaction_checks
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.forms.matching import ETHEREUM_TYPES
from scan.hex import BadHex, data, quantity, quantity_or_none

CACHE_BYTES = 128 * 1024 * 1024
ENTRY_BYTES = 650  # memory of a transaction besides its input, measured
LOG_BYTES = 650  # memory of a log besides its data, measured
# In a node's JSON a log takes 400 to 800 bytes besides its data.
MOST_BYTES = 16 * 1024 * 1024
MAX_LOGS = 20_000
WHOLE_BLOCK_FROM = 20  # the whole block is read if this many of its transactions are needed
AT_ONCE = 200  # each batch is cached, so the next request goes on where a time-out ended this one

REFUSED = "The node does not return this transaction."
MISSING = "The node does not have this transaction now."
OTHER_BLOCK = "The node has this transaction in another block than the index."
MALFORMED = "The node's response is malformed."


class TransactionUnavailable(Exception):
    """The transaction cannot be read; the message is shown to clients."""


class Content(IntEnum):
    """The parts of a transaction that are read; each member includes those before it."""

    INPUT = 0
    RECEIPT = 1
    LOGS = 2


class IndexedTransaction(NamedTuple):
    """An indexed transaction; hashes and addresses are hex."""

    hash: str
    block_number: int
    block_hash: str
    to_address: str | None


class TransactionLog(NamedTuple):
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes
    log_index: int


class Receipt(NamedTuple):
    """A receipt. `status` is None before Byzantium; `logs` is None if they are too many or were not
    needed."""

    status: int | None
    cumulative_gas_used: int
    log_count: int
    logs: tuple[TransactionLog, ...] | None


class NodeTransaction(NamedTuple):
    """A transaction as the node has it; `receipt` is None if it was not needed or too large."""

    nonce: int
    gas_limit: int
    input: bytes
    receipt: Receipt | None


class _Entry(NamedTuple):
    content: Content
    transaction: NodeTransaction


_Key = tuple[str, str]  # of a transaction and of its block, by their hashes


class TransactionReader:
    """Reads transactions in batches, with a cache of CACHE_BYTES."""

    def __init__(self) -> None:
        # With MAX_LOGS a transaction takes 13 MB and its data.
        self._cache: SizedCache[_Entry] = SizedCache(CACHE_BYTES, least_entries=4)

    def read(
        self, node: request_node.NodeSession, needed: Iterable[tuple[IndexedTransaction, Content]]
    ) -> dict[str, NodeTransaction]:
        """Return all needed transactions by hash.

        Raises TransactionUnavailable, also where the node has the transaction in another block, and
        the errors of NodeSession. Transactions that were read before an error stay cached.
        """
        transactions: dict[str, NodeTransaction] = {}
        by_block: dict[int, dict[IndexedTransaction, Content]] = defaultdict(dict)
        for indexed, content in needed:
            entry = self._cache.get((indexed.hash, indexed.block_hash))
            if entry is not None and entry.content >= content:
                transactions[indexed.hash] = entry.transaction
            else:
                by_block[indexed.block_number][indexed] = content
        try:
            singles: list[tuple[IndexedTransaction, Content]] = []
            for missing in by_block.values():
                if len(missing) >= WHOLE_BLOCK_FROM:
                    transactions |= self._read_block(node, missing)
                singles += [item for item in missing.items() if item[0].hash not in transactions]
            for start in range(0, len(singles), AT_ONCE):
                transactions |= self._read_singly(node, singles[start : start + AT_ONCE])
        except (BadHex, KeyError, TypeError, AttributeError, ValueError):
            raise TransactionUnavailable(MALFORMED) from None
        return transactions

    def _read_block(
        self, node: request_node.NodeSession, needed: dict[IndexedTransaction, Content]
    ) -> dict[str, NodeTransaction]:
        """Return the needed transactions from a whole block; {} if the node does not return the
        block with all its receipts."""
        number = hex(next(iter(needed)).block_number)
        calls = [Call("eth_getBlockByNumber", (number, True))]
        if any(content > Content.INPUT for content in needed.values()):
            calls.append(Call("eth_getBlockReceipts", (number,)))
        block, *receipts = node.results(calls)
        if not isinstance(block, dict) or not all(isinstance(whole, list) for whole in receipts):
            return {}
        sent_by_hash = {sent["hash"]: sent for sent in block["transactions"]}
        receipts_by_hash = {
            receipt["transactionHash"]: receipt for whole in receipts for receipt in whole
        }
        return {
            indexed.hash: self._keep(
                indexed, content, sent_by_hash[indexed.hash], receipts_by_hash.get(indexed.hash)
            )
            for indexed, content in needed.items()
            if indexed.hash in sent_by_hash
        }

    def _read_singly(
        self, node: request_node.NodeSession, needed: Sequence[tuple[IndexedTransaction, Content]]
    ) -> dict[str, NodeTransaction]:
        # The receipt comes first: batches of its method shrink where its answers are large.
        calls = []
        for indexed, content in needed:
            if content > Content.INPUT:
                calls.append(Call("eth_getTransactionReceipt", (indexed.hash,)))
            calls.append(Call("eth_getTransactionByHash", (indexed.hash,)))
        results: Iterator[Any] = iter(node.results(calls, MOST_BYTES))
        transactions = {}
        for indexed, content in needed:
            receipt = next(results) if content > Content.INPUT else None
            transactions[indexed.hash] = self._keep(indexed, content, next(results), receipt)
        return transactions

    def _keep(
        self, indexed: IndexedTransaction, content: Content, sent: Any, receipt: Any
    ) -> NodeTransaction:
        require_same(indexed, sent)
        try:
            transaction_checks.proof_of(sent, transaction_checks.Proof.HASH)
        except transaction_checks.Contradiction:
            raise TransactionUnavailable(MALFORMED) from None
        if sent.get("type") not in ETHEREUM_TYPES:  # others may lack what Ethereum's all have
            sent = {"nonce": "0x0", "gas": "0x0", "input": "0x", **sent}
        transaction = NodeTransaction(
            quantity(sent["nonce"]),
            quantity(sent["gas"]),
            data(sent["input"]),
            None if content == Content.INPUT else _receipt(indexed, content, receipt),
        )
        logs = (transaction.receipt.logs if transaction.receipt else None) or ()
        size = ENTRY_BYTES + len(transaction.input)
        size += sum(LOG_BYTES + len(log.data) for log in logs)
        key = (indexed.hash, indexed.block_hash)
        self._cache.store(key, _Entry(content, transaction), size)
        return transaction


def require_same(indexed: IndexedTransaction, answer: Any, hash_name: str = "hash") -> None:
    """Raise TransactionUnavailable unless a node's answer is this transaction in this block.

    `hash_name` is the field with the hash: receipts have transactionHash.
    """
    if isinstance(answer, RpcError):
        raise TransactionUnavailable(REFUSED)
    if answer is None:
        raise TransactionUnavailable(MISSING)
    if data(answer["blockHash"], 32) != data(indexed.block_hash):
        raise TransactionUnavailable(OTHER_BLOCK)
    to = answer.get("to")
    if (
        data(answer[hash_name], 32) != data(indexed.hash)
        or quantity(answer["blockNumber"]) != indexed.block_number
        or (to and data(to, 20)) != (indexed.to_address and data(indexed.to_address, 20))
    ):
        raise TransactionUnavailable(MALFORMED)


def _receipt(indexed: IndexedTransaction, content: Content, answer: Any) -> Receipt | None:
    if isinstance(answer, AnswerTooLarge) and content == Content.LOGS:
        return None
    require_same(indexed, answer, "transactionHash")
    logs, decoded = _list(answer["logs"]), None
    if content == Content.LOGS and len(logs) <= MAX_LOGS:
        decoded = tuple(_log(indexed, log) for log in logs)
        if any(after.log_index <= before.log_index for before, after in pairwise(decoded)):
            raise TransactionUnavailable(MALFORMED)
    gas = quantity(answer["cumulativeGasUsed"])
    return Receipt(quantity_or_none(answer.get("status")), gas, len(logs), decoded)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadHex("not a list")
    return value


def _log(indexed: IndexedTransaction, log: Any) -> TransactionLog:
    topics = tuple(data(topic, 32) for topic in _list(log["topics"]))
    if len(topics) > blocks.MAX_TOPICS or log.get("removed") is True:
        raise TransactionUnavailable(MALFORMED)
    if data(log["transactionHash"], 32) != data(indexed.hash):
        raise TransactionUnavailable(MALFORMED)
    index = quantity(log["logIndex"])
    if index >= 2**31:
        raise TransactionUnavailable(MALFORMED)
    return TransactionLog(data(log["address"], 20), topics, data(log["data"]), index)
