"""A block's hash and roots, and which parts of a block no root covers. Pure.

Records are the structs of scan/ethereum/blocks.py.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from scan.ethereum.block_encoding import (
    TRANSACTION_FIELDS,
    encode_header,
    encode_header_of_chains,
    encode_receipts,
    encode_transactions,
    encode_withdrawals,
    type_number,
)
from scan.ethereum.blocks import BlockJson, FormReceiptJson
from scan.ethereum.forms.form import Encoding, Form, no_amounts
from scan.ethereum.forms.matching import (
    FORM_OF_CHAIN,
    FORMS,
    has_uncovered_end,
    match_of_records,
)
from scan.ethereum.keccak import keccak256
from scan.ethereum.merkle_trie import list_root
from scan.ethereum.rlp import list_item
from scan.hex import data

ETHEREUM = Form("Ethereum")
# Fields that follow from the place of a receipt or log. EthereumJS numbers logs otherwise, and
# anvil names receipts of deposits that it sends in another's name by a hash of its own.
OUT_OF_PLACE = TRANSACTION_HASH, LOG_INDEX = "transactionHash of receipts", "logIndex of logs"

# Forms that have one type have one tail; receipts of other forms lack its fields.
_TAILS = {
    number: encoding
    for form in FORMS
    for number, encoding in form.encodings.items()
    if encoding.receipt_tail
}


def header_hash(header: Any) -> bytes:
    """Return the hash of a header as Ethereum encodes it."""
    return keccak256(encode_header(header))


def has_its_hash(header: Any) -> bool:
    """Return whether a block's hash is its header's hash in an encoding of some chain."""
    return encoded_header(header) is not None


def encoded_header(header: Any) -> bytes | None:
    """Return the encoding of some chain by which a header has its block's hash; None where none
    has it."""
    with suppress(ValueError, TypeError, AttributeError):
        hash_ = data(header.hash, 32)
        return next((e for e in encode_header_of_chains(header) if keccak256(e) == hash_), None)
    return None


def uncles_hash(uncles: Sequence[Any]) -> bytes:
    """Return the hash of a block's uncles, given as headers, that sha3Uncles has to be."""
    items = "".join([encode_header(uncle).hex() for uncle in uncles])
    return keccak256(bytes.fromhex(list_item(items)))


NO_UNCLES = uncles_hash(())


def own_form(header: Any, receipts: Sequence[Any], chain_id: int | None) -> Form:
    """Return the form by which the block's roots are computed: Ethereum's, unless a transaction has
    a type of the chain's own."""
    if not _types(header.transactions) - TRANSACTION_FIELDS.keys():
        return ETHEREUM
    if chain_id in FORM_OF_CHAIN:
        return FORM_OF_CHAIN[chain_id] or ETHEREUM
    return match_of_records(header, receipts, chain_id).form or ETHEREUM


def _types(transactions: Sequence[Any]) -> set[int]:
    return {type_number(type_) for type_ in {t.type for t in transactions}}


def uncompared(header: Any, receipts: Sequence[Any], chain_id: int | None) -> list[str]:
    """Return the parts of a block that no root covers, in words: a state sync, a form that is known
    by its fields alone, and fees for L1 that receipts lack."""
    words = ["a state sync"] if _has_uncovered_end(header, receipts, chain_id) else []
    are_plain = type(header) is BlockJson and FormReceiptJson not in map(type, receipts)
    form, is_proven = match_of_records(header, receipts, chain_id, are_plain=are_plain)
    if not is_proven and not words:
        words.append(f"fields of {form.name if form else 'a chain of its own form'}")
    named = FORM_OF_CHAIN.get(chain_id) if chain_id is not None else None
    if named and not form and named.l1_fees is not no_amounts and receipts:
        words.append(f"no transaction shows {named.name}")
    if form and form.l1_fees is not no_amounts and _lacks_l1_fees(header, receipts, form, named):
        words.append("receipts without a fee for L1")
    return words


def _lacks_l1_fees(header: Any, receipts: Sequence[Any], form: Form, named: Form | None) -> bool:
    """Return whether a transaction that pays has no fee for L1, though it is one of a chain whose
    transactions have it, as its id or another receipt says."""
    sent = {"type": [transaction.type for transaction in header.transactions]}
    is_free = form.is_free(sent) if form.is_free else [False] * len(receipts)
    fees = [
        getattr(receipt, "l1Fee", None)
        for receipt, free in zip(receipts, is_free, strict=True)
        if not free
    ]
    return None in fees and (named is not None or fees.count(None) < len(fees))


def covered_by_roots(
    header: Any, receipts: Sequence[Any], chain_id: int | None
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the transactions and receipts that roots cover: all but the state sync of a chain of
    bor. On other chains a state sync stays covered, since there it has logs that nobody emitted."""
    if _has_uncovered_end(header, receipts, chain_id):
        return header.transactions[:-1], receipts[:-1]
    return header.transactions, receipts


def _has_uncovered_end(header: Any, receipts: Sequence[Any], chain_id: int | None) -> bool:
    if not receipts or not has_uncovered_end(header) or int(receipts[-1].gasUsed, 16) != 0:
        return False
    form = None if chain_id is None else FORM_OF_CHAIN.get(chain_id)
    return chain_id not in FORM_OF_CHAIN or bool(form and form.has_uncovered_end)


def transactions_root(transactions: Sequence[Any], form: Form = ETHEREUM) -> bytes:
    """Return the root of transactions; raises Unencodable for an unknown type."""
    return list_root(encode_transactions(transactions, form.encodings))


def receipts_root(receipts: Sequence[Any], form: Form = ETHEREUM) -> bytes:
    return list_root(encode_receipts(receipts, form.encodings))


def receipt_leaf(receipt: Any) -> bytes:
    """Return a receipt as consensus encodes it, in the form of whatever chain has its type."""
    number = type_number(receipt.type)
    own = {} if number in TRANSACTION_FIELDS else {number: _TAILS.get(number, Encoding(()))}
    [leaf] = encode_receipts([receipt], own)
    return leaf


def withdrawals_root(withdrawals: Sequence[dict[str, Any]]) -> bytes:
    """Return the root of withdrawals by EIP-4895."""
    return list_root(encode_withdrawals(withdrawals))


def has_its_withdrawals(header: Any, form: Form) -> bool:
    """Return whether the block's withdrawals agree with its withdrawalsRoot."""
    root = header.withdrawalsRoot
    if form.withdraws_to_l1:
        return not header.withdrawals and (root is None or header.withdrawals is not None)
    if root is None:  # a proven header has none where there are no withdrawals
        return not header.withdrawals
    return withdrawals_root(header.withdrawals) == data(root)


def fields_out_of_place(transactions: Sequence[Any], receipts: Sequence[Any]) -> str:
    """Return which of OUT_OF_PLACE is not what the place in the block says; "" if none."""
    if [sent.hash for sent in transactions] != [receipt.transactionHash for receipt in receipts]:
        return TRANSACTION_HASH
    logs = [log.logIndex for receipt in receipts for log in receipt.logs]
    return "" if [int(index, 16) for index in logs] == [*range(len(logs))] else LOG_INDEX


def put_in_place(header: Any, receipts: Sequence[Any], chain_id: int | None) -> bool:
    """Give receipts and their logs the hashes and numbers of their place; return whether the roots
    cover all of them. To be called where the roots prove the order: where contradicting_fields()
    returns one of OUT_OF_PLACE."""
    transactions, covered = covered_by_roots(header, receipts, chain_id)
    if len(covered) < len(receipts):
        return False
    for sent, receipt in zip(transactions, receipts, strict=True):
        receipt.transactionHash = sent.hash
    for index, entry in enumerate(log for receipt in receipts for log in receipt.logs):
        entry.logIndex = hex(index)
    return True
