"""Pending transactions, read from the node."""

from typing import NamedTuple

from scan.contracts.abi_decoding import Decoded, decode_call_by
from scan.contracts.decoding_budget import DecodingBudget
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.transaction_details.contract_abis import NO_CONTRACT, ContractAbis
from scan.extensions.transaction_details.decoding import decode_call
from scan.extensions.transaction_details.pending_transactions.node_transaction import (
    PendingTransaction,
    read_pending,
)
from scan.queries.reader import Reader

TIMEOUT_S = 1.5


class Pending(NamedTuple):
    """A transaction that is not indexed, and the function that it calls."""

    sent: PendingTransaction
    method: Decoded | None


def get(reader: Reader, transaction_hash: bytes) -> Pending | None:
    """Return the node's transaction that is not indexed; None where the node does not know it or
    does not respond."""
    reader.do_not_cache()
    node = reader.node.within(TIMEOUT_S)
    try:
        sent = read_pending(node, transaction_hash)
    except (UpstreamFailed, Unavailable):
        return None
    return None if sent is None else Pending(sent, _method(reader, sent))


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
