"""Pending transactions, read from the node."""

from enum import StrEnum
from typing import Any, NamedTuple

import orjson

from scan.contracts.abi_decoding import Decoded, DecodingBudget, decode_call_by
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeSession
from scan.extensions.transaction_details import contract_abis, decoding
from scan.extensions.transaction_details.pending_transactions import node_transaction
from scan.hex import to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import entities
from scan.queries.pages import MAX_ENTRIES, Window
from scan.queries.reader import Reader

TIMEOUT_S = 1.5
MAX_LISTED = 100


class Pending(NamedTuple):
    """A transaction that is not indexed, and the function that it calls.

    `replaced_by` is the hash of the mined transaction with its nonce, where a page of its sender's
    newest has it; `missing_nonce` an earlier nonce that nothing in its sender's pool has, None
    where there is none, or the node does not say."""

    sent: node_transaction.PendingTransaction
    method: Decoded | None
    replaced_by: str | None
    missing_nonce: int | None


class Fate(StrEnum):
    """What became of a transaction that the node does not give."""

    REPLACED = "replaced"  # another with its nonce is indexed
    NONCE_USED = "nonce used"  # one with its nonce was mined, which the index does not show yet
    BEING_REPLACED = "being replaced"  # the pool has another with its nonce
    DROPPED = "dropped"  # neither the node nor its pool has one with its nonce, which is not used
    UNKNOWN = "not known"


class Gone(NamedTuple):
    """`replaced_by` is the hash of the transaction with its nonce that is mined or pending;
    `reason` says why its fate is not known."""

    fate: Fate
    replaced_by: str | None = None
    reason: str = ""


class Listed(NamedTuple):
    """The transactions of a sender in the node's pool: records of the first MAX_LISTED by nonce,
    and how many there are; None, with the reason, where the node does not say."""

    records: list[dict[str, Any]]
    total: int | None
    reason: str | None = None

    @property
    def has_unproven(self) -> bool:
        return any("fromAddress" in record["unproven"] for record in self.records)


def sender_transactions(reader: Reader, sender: bytes) -> Listed:
    """Return what the node's pool has of a sender."""
    reader.do_not_cache()
    pool = _pool(reader.node.within(TIMEOUT_S), sender)
    if pool.reason is not None:
        return Listed([], None, pool.reason)
    shown = pool.transactions[:MAX_LISTED]
    return Listed([sent.record() for sent in shown], len(pool.transactions))


def get(reader: Reader, transaction_hash: bytes) -> Pending | None:
    """Return the node's transaction that is not indexed; None where the node says that it does not
    have it. Raises UpstreamFailed or Unavailable where it does not say."""
    reader.do_not_cache()
    node = reader.node.within(TIMEOUT_S)
    sent = node_transaction.read_pending(node, transaction_hash)
    if sent is None:
        return None
    mined = missing_nonce = None
    earlier = sent.earlier_nonces
    if sent.block_number is None and earlier is not None and earlier < 0:
        mined = _mined(reader, sent.from_address, sent.nonce)
    elif sent.block_number is None and earlier:
        missing_nonce = _missing_nonce(node, sent)
    return Pending(sent, _method(reader, sent), mined, missing_nonce)


def _missing_nonce(node: NodeSession, sent: node_transaction.PendingTransaction) -> int | None:
    pool = _pool(node, sent.from_address)
    if pool.reason is not None or sent.next_nonce is None:
        return None
    missing = pool.missing_nonce(sent.next_nonce)
    return missing if missing < sent.nonce else None


def _pool(node: NodeSession, sender: bytes) -> node_transaction.SenderPool:
    """Read a sender's pool; an error of the node is a reason why it is not known."""
    try:
        return node_transaction.read_pool(node, sender)
    except (UpstreamFailed, Unavailable) as error:
        return node_transaction.SenderPool([], error.message)


def gone(
    reader: Reader, transaction_hash: bytes, sender: bytes, nonce: int, failure: str | None
) -> Gone:
    """Return what became of a transaction by its sender and its nonce; `failure` is why the node
    did not say whether it has it. Nothing is dropped that the node did not deny three times: by
    its hash, by its sender's nonce, and in its sender's pool."""
    reader.do_not_cache()
    mined = _mined(reader, sender, nonce)
    if mined not in (None, to_hex(transaction_hash)):
        return Gone(Fate.REPLACED, mined)
    if failure is not None:
        return Gone(Fate.UNKNOWN, reason=failure)
    node = reader.node.within(TIMEOUT_S)
    next_nonce = node_transaction.next_nonce_of(node, sender)
    if next_nonce is None:
        return Gone(Fate.UNKNOWN, reason="The node does not give its sender's nonce.")
    if next_nonce > nonce:
        return Gone(Fate.NONCE_USED)
    pool = _pool(node, sender)
    if pool.reason is not None:
        return Gone(Fate.UNKNOWN, reason=pool.reason)
    pooled = pool.with_nonce(nonce)
    if pooled is None:
        return Gone(Fate.DROPPED)
    if pooled.hash == transaction_hash:
        return Gone(Fate.UNKNOWN, reason="The node has it in its pool, but does not give it.")
    return Gone(Fate.BEING_REPLACED, to_hex(pooled.hash))


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


def _method(reader: Reader, sent: node_transaction.PendingTransaction) -> Decoded | None:
    to, calldata = sent.to_address, sent.input
    if to is None or len(calldata) < 4:
        return None
    abis, budget = reader.sources.get(contract_abis.ContractAbis), DecodingBudget()
    contract = abis.find([to], budget).get(to, contract_abis.NO_CONTRACT)
    decoded = decoding.decode_call(calldata, contract.abis, contract.token_type, budget=budget)
    return decoded or decode_call_by(
        calldata, abis.imported([calldata[:4]]).get(calldata[:4], ()), budget=budget
    )
