"""Pending transactions, read from the node."""

from typing import NamedTuple

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
from scan.queries.reader import Reader

TIMEOUT_S = 1.5


class Pending(NamedTuple):
    """A transaction that is not indexed, and the function that it calls; `replaced_by` is the hash
    of the mined transaction with its nonce, if any is among its sender's newest."""

    sent: PendingTransaction
    method: Decoded | None
    replaced_by: str | None


class Gone(NamedTuple):
    """What became of a transaction that the node no longer has. `replaced_by` is the hash of the
    mined transaction with its nonce, None where none is among its sender's newest; `is_nonce_used`
    whether any was mined, None where the node does not say."""

    replaced_by: str | None
    is_nonce_used: bool | None


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
    mined: str | None
    (mined,) = reader.row("queries/transactions_find_by_nonce", sender=sender, nonce=str(nonce))
    return mined


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
