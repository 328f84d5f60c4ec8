"""A block's hash and roots, and which parts of a block no root covers. Pure.

Records are the structs of scan/ethereum/blocks.py.
"""

from collections.abc import Sequence, Set
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
from scan.ethereum.forms.form import Form, no_amounts
from scan.ethereum.forms.matching import (
    FORM_OF_CHAIN,
    FORMS,
    chain_id_of,
    form_of_records,
    has_uncovered_end,
)
from scan.ethereum.keccak import keccak256
from scan.ethereum.merkle_trie import list_root
from scan.ethereum.rlp import list_item
from scan.hex import data

ETHEREUM = Form("Ethereum")
# Fields that follow from the place of a receipt or log. EthereumJS numbers logs otherwise, and
# anvil names receipts of deposits that it sends in another's name by a hash of its own.
OUT_OF_PLACE = TRANSACTION_HASH, LOG_INDEX = "transactionHash of receipts", "logIndex of logs"


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


def own_form(header: Any, receipts: Sequence[Any]) -> Form:
    """Return the form by which the block's roots are computed: Ethereum's, unless a transaction has
    a type of the chain's own."""
    own = _types(header.transactions) - TRANSACTION_FIELDS.keys()
    if not own:
        return ETHEREUM
    form = form_of_records(header, receipts) or ETHEREUM
    if chain_id_of(header.transactions) is None:
        form = next((other for other in FORMS if _has_its_transactions(header, own, other)), form)
    return form


def _types(transactions: Sequence[Any]) -> set[int]:
    return {type_number(type_) for type_ in {t.type for t in transactions}}


def _has_its_transactions(header: Any, own: Set[int], form: Form) -> bool:
    """Return whether transactionsRoot agrees with the transactions as `form` encodes them. Deposits
    name no chain, so in a block of deposits alone only the root tells the form."""
    if not own <= form.encodings.keys():
        return False
    with suppress(ValueError, TypeError):
        return transactions_root(header.transactions, form) == data(header.transactionsRoot)
    return False


def uncompared(header: Any, receipts: Sequence[Any]) -> list[str]:
    """Return the parts of a block that no root covers, in words: a state sync, a form that is known
    by its fields alone, as no transaction names the chain, and fees for L1 that some receipts lack.
    """
    is_named = chain_id_of(header.transactions) in FORM_OF_CHAIN
    words = ["a state sync"] if not is_named and has_uncovered_end(header) else []
    if type(header) is BlockJson and FormReceiptJson not in map(type, receipts):
        return words
    form = form_of_records(header, receipts) or ETHEREUM
    if (
        form.signs
        and not is_named
        and not _types(header.transactions).isdisjoint(TRANSACTION_FIELDS)
    ):
        words.append(f"fields of {form.name}")
    if form.l1_fees is not no_amounts and _lacks_l1_fees(header, receipts, form, is_named=is_named):
        words.append("receipts without a fee for L1")
    return words


def _lacks_l1_fees(header: Any, receipts: Sequence[Any], form: Form, *, is_named: bool) -> bool:
    """Return whether a transaction that pays has no fee for L1, though it is one of a chain whose
    transactions have it, as its id or another receipt says."""
    sent = {"type": [transaction.type for transaction in header.transactions]}
    is_free = form.is_free(sent) if form.is_free else [False] * len(receipts)
    fees = [
        getattr(receipt, "l1Fee", None)
        for receipt, free in zip(receipts, is_free, strict=True)
        if not free
    ]
    return None in fees and (is_named or fees.count(None) < len(fees))


def covered_by_roots(header: Any, receipts: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the transactions and receipts that roots cover: all but the state sync of a chain of
    bor. On other chains a state sync stays covered, since there it has logs that nobody emitted."""
    if receipts and has_uncovered_end(header) and int(receipts[-1].gasUsed, 16) == 0:
        chain_id = chain_id_of(header.transactions)
        form = None if chain_id is None else FORM_OF_CHAIN.get(chain_id)
        if chain_id not in FORM_OF_CHAIN or (form and form.has_uncovered_end):
            return header.transactions[:-1], receipts[:-1]
    return header.transactions, receipts


def transactions_root(transactions: Sequence[Any], form: Form = ETHEREUM) -> bytes:
    """Return the root of transactions; raises Unencodable for an unknown type."""
    return list_root(encode_transactions(transactions, form.encodings))


def receipts_root(receipts: Sequence[Any], form: Form = ETHEREUM) -> bytes:
    return list_root(encode_receipts(receipts, form.encodings))


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


def put_in_place(header: Any, receipts: Sequence[Any]) -> bool:
    """Give receipts and their logs the hashes and numbers of their place; return whether the roots
    cover all of them. To be called where the roots prove the order: where contradicting_fields()
    returns one of OUT_OF_PLACE."""
    transactions, covered = covered_by_roots(header, receipts)
    if len(covered) < len(receipts):
        return False
    for sent, receipt in zip(transactions, receipts, strict=True):
        receipt.transactionHash = sent.hash
    for index, entry in enumerate(log for receipt in receipts for log in receipt.logs):
        entry.logIndex = hex(index)
    return True
