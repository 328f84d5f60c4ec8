"""Pending transactions, read from the node."""

from typing import Any, NamedTuple

import orjson

from scan.contracts.abi_decoding import Decoded, decode_call_by
from scan.contracts.decoding_budget import DecodingBudget
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.transaction_details.contract_abis import NO_CONTRACT, ContractAbis
from scan.extensions.transaction_details.decoding import decode_call
from scan.extensions.transaction_details.pending_transactions.node_transaction import (
    PendingTransaction,
    next_nonce_of,
    read_pending,
)
from scan.extensions.transaction_details.pending_transactions.sender_pool import read_pool
from scan.hex import to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import entities
from scan.queries.pages import MAX_ENTRIES, Window
from scan.queries.reader import Reader

TIMEOUT_S = 1.5
MAX_LISTED = 100


class Pending(NamedTuple):
    """A transaction that is not indexed, and the function that it calls; `replaced_by` is the hash
    of the mined transaction with its nonce, where a page of its sender's newest has it."""

    sent: PendingTransaction
    method: Decoded | None
    replaced_by: str | None


class Gone(NamedTuple):
    """What became of a transaction that the node no longer has. `replaced_by` is the hash of the
    mined transaction with its nonce, None where a page of its sender's newest does not have it;
    `is_nonce_used`: whether any was mined, None where the node does not say."""

    replaced_by: str | None
    is_nonce_used: bool | None


class Listed(NamedTuple):
    """The transactions of a sender in the node's pool: records of the first MAX_LISTED by nonce,
    and how many there are; None, with the reason, where the node does not say."""

    records: list[dict[str, Any]]
    total: int | None
    reason: str | None = None


def of_sender(reader: Reader, sender: bytes) -> Listed:
    """Return what the node's pool has of a sender."""
    reader.do_not_cache()
    try:
        pool = read_pool(reader.node.within(TIMEOUT_S), sender)
    except (UpstreamFailed, Unavailable) as error:
        return Listed([], None, error.message)
    if pool.reason is not None:
        return Listed([], None, pool.reason)
    shown = pool.transactions[:MAX_LISTED]
    return Listed([sent.record() for sent in shown], len(pool.transactions))


def get(reader: Reader, transaction_hash: bytes) -> Pending | None:
    """Return the node's transaction that is not indexed; None where the node does not know it or
    does not respond."""
    reader.do_not_cache()
    node = reader.node.within(TIMEOUT_S)
    try:
        sent = read_pending(node, transaction_hash)
    except (UpstreamFailed, Unavailable):
        return None
    if sent is None:
        return None
    earlier = sent.earlier_nonces
    is_replaced = sent.block_number is None and earlier is not None and earlier < 0
    mined = _mined(reader, sent.from_address, sent.nonce) if is_replaced else None
    return Pending(sent, _method(reader, sent), mined)


def gone(reader: Reader, sender: bytes, nonce: int) -> Gone:
    """Return what became of a transaction by its sender and its nonce."""
    reader.do_not_cache()
    mined = _mined(reader, sender, nonce)
    if mined is not None:
        return Gone(mined, True)
    try:
        following = next_nonce_of(reader.node.within(TIMEOUT_S), sender)
    except (UpstreamFailed, Unavailable):
        following = None
    return Gone(None, None if following is None else following > nonce)


def _mined(reader: Reader, sender: bytes, nonce: int) -> str | None:
    """Return the hash of a sender's transaction, of those that a page of the list reads; None, too,
    where too many such lists are read at once."""
    if nonce > BIGINT_MAX:  # none is so large but those of a chain's own types
        return None
    given = {"from": to_hex(sender), "nonce": nonce}
    try:
        page = entities.page(reader, "transactions", Window(1, 0, max_entries=MAX_ENTRIES), given)
    except Unavailable:
        return None
    return next((record["hash"] for record in orjson.loads(page.data)), None)


def _method(reader: Reader, sent: PendingTransaction) -> Decoded | None:
    to, calldata = sent.to_address, sent.input
    if to is None or len(calldata) < 4:
        return None
    abis, budget = reader.sources.get(ContractAbis), DecodingBudget()
    contract = abis.find([to], budget).get(to, NO_CONTRACT)
    decoded = decode_call(calldata, contract.abis, contract.token_type, budget=budget)
    return decoded or decode_call_by(
        calldata, abis.imported([calldata[:4]]).get(calldata[:4], ()), budget=budget
    )
