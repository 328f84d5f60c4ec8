"""Blocks and receipts as msgspec reads them from a node's text: a third of the time of orjson.

Fields that no column is made of are passed over. What does not have these types is an error of
msgspec's, and is decoded field by field then, see spool.py.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.json import Decoder


class Json(Struct, gc=False, rename="camel", kw_only=True):
    """Named as the node's JSON, in snake case."""


class TransactionJson(Json):
    hash: str
    block_hash: str
    transaction_index: str
    from_address: str = field(name="from")
    value: str
    to: str | None = None
    type: str | None = None
    nonce: str | None = None
    gas: str | None = None
    gas_price: str | None = None
    max_fee_per_gas: str | None = None
    max_priority_fee_per_gas: str | None = None
    max_fee_per_blob_gas: str | None = None
    input: str | None = None
    blob_versioned_hashes: list[str] | None = None


class LogJson(Json):
    address: str
    topics: list[str]
    data: str
    log_index: str


class ReceiptJson(Json):
    block_hash: str
    transaction_index: str
    transaction_hash: str
    gas_used: str
    logs: list[LogJson]
    status: str | None = None
    contract_address: str | None = None
    type: str | None = None
    effective_gas_price: str | None = None
    cumulative_gas_used: str | None = None
    blob_gas_price: str | None = None


class BlockJson(Json):
    number: str
    hash: str
    parent_hash: str
    timestamp: str
    miner: str
    gas_used: str
    gas_limit: str
    transactions: list[TransactionJson]
    base_fee_per_gas: str | UnsetType | None = UNSET
    size: str | None = None
    withdrawals: list[dict[str, Any]] | None = None


class Reply(Json):
    id: int
    result: BlockJson | list[ReceiptJson] | None = None


_replies = Decoder(list[Reply])

BlockWithReceipts = tuple[BlockJson, list[ReceiptJson]]


def read_replies(text: bytes, count: int) -> Sequence[BlockWithReceipts] | None:
    """Of a request for a block and its receipts, `count` times; None where it was refused.

    Raises msgspec's DecodeError for other types, or what is not JSON.
    """
    replies = {reply.id: reply.result for reply in _replies.decode(text)}
    pairs = []
    for number in range(count):
        block, receipts = replies.get(2 * number), replies.get(2 * number + 1)
        if not isinstance(block, BlockJson) or not isinstance(receipts, list):
            return None
        pairs.append((block, receipts))
    return pairs
