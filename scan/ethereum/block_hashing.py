"""A block's hash and roots, and whether the parts of a block agree with them. Pure.

Records are the structs of scan/ethereum/blocks.py.
"""

from collections.abc import Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

from scan.ethereum.block_encoding import (
    TRANSACTION_FIELDS,
    Unencodable,
    encode_header,
    encode_header_of_chains,
    encode_receipts,
    encode_transactions,
    encode_withdrawals,
    type_number,
)
from scan.ethereum.blocks import BlockJson, FormReceiptJson
from scan.ethereum.forms import (
    FORM_OF_CHAIN,
    FORMS,
    LIKE_ETHEREUM,
    chain_id_of,
    form_of_records,
)
from scan.ethereum.forms.form import Form, no_amounts
from scan.ethereum.forms.polygon import AMOY, BOR, POLYGON, has_state_sync
from scan.ethereum.keccak import keccak256
from scan.ethereum.merkle_trie import list_root
from scan.ethereum.rlp import list_item, quantity_item, string_item
from scan.hex import data

_ETHEREUM = Form("Ethereum")
# Fields that follow from the place of a receipt or log. EthereumJS numbers logs otherwise, and
# anvil names receipts of deposits that it sends in another's name by a hash of its own.
OUT_OF_PLACE = TRANSACTION_HASH, LOG_INDEX = "transactionHash of receipts", "logIndex of logs"


def header_hash(header: Any) -> bytes:
    """Return the hash of a header as Ethereum encodes it."""
    return keccak256(encode_header(header))


def has_its_hash(header: Any) -> bool:
    """Return whether a block's hash is its header's hash in an encoding of some chain."""
    try:
        hash_ = data(header.hash, 32)
        return any(keccak256(text) == hash_ for text in encode_header_of_chains(header))
    except (ValueError, TypeError, AttributeError):
        return False


def uncles_hash(uncles: Sequence[Any]) -> bytes:
    """Return the hash of a block's uncles, given as headers, that sha3Uncles has to be."""
    items = "".join([encode_header(uncle).hex() for uncle in uncles])
    return keccak256(bytes.fromhex(list_item(items)))


NO_UNCLES = uncles_hash(())


def own_form(header: Any, receipts: Sequence[Any]) -> Form:
    """Return the form by which the block's roots are computed: Ethereum's, unless a transaction has
    a type of the chain's own. Raises Unencodable for a type that the form does not encode."""
    types = {type_number(type_) for type_ in {t.type for t in header.transactions}}
    own = types - TRANSACTION_FIELDS.keys()
    if not own:
        return _ETHEREUM
    form = form_of_records(header, receipts) or _ETHEREUM
    if chain_id_of(header.transactions) is None:
        form = next((other for other in FORMS if _has_its_transactions(header, own, other)), form)
    if unknown := own - form.encodings.keys():
        raise Unencodable(f"transactions of type {min(unknown)}")
    return form


def _has_its_transactions(header: Any, own: Set[int], form: Form) -> bool:
    """Return whether transactionsRoot agrees with the transactions as `form` encodes them. Deposits
    name no chain, so in a block of deposits alone only the root tells the form."""
    if not own <= form.encodings.keys():
        return False
    with suppress(ValueError, TypeError):
        return transactions_root(header.transactions, form) == data(header.transactionsRoot)
    return False


def uncompared(header: Any, receipts: Sequence[Any]) -> list[str]:
    """Return the parts of a block that no root covers, in words: a state sync, types of unknown
    encoding, a form that is known by its fields alone, as no transaction names the chain, and fees
    for L1 that some receipts lack."""
    is_named = chain_id_of(header.transactions) in FORM_OF_CHAIN
    words = ["a state sync"] if not is_named and has_state_sync(header) else []
    if type(header) is BlockJson and FormReceiptJson not in map(type, receipts):
        return words
    form = form_of_records(header, receipts) or _ETHEREUM
    types = {type_number(transaction.type) for transaction in header.transactions}
    unknown = sorted(types - TRANSACTION_FIELDS.keys() - form.encodings.keys())
    words += [f"transactions of type {number}" for number in unknown]
    if form.signs and not is_named and not types.isdisjoint(TRANSACTION_FIELDS):
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
    if receipts and has_state_sync(header) and int(receipts[-1].gasUsed, 16) == 0:
        chain_id = chain_id_of(header.transactions)
        if chain_id is None or FORM_OF_CHAIN.get(chain_id, BOR) in (POLYGON, AMOY, BOR):
            return header.transactions[:-1], receipts[:-1]
    return header.transactions, receipts


def transactions_root(transactions: Sequence[Any], form: Form = _ETHEREUM) -> bytes:
    """Return the root of transactions; raises Unencodable for an unknown type."""
    return list_root(encode_transactions(transactions, form.encodings))


def receipts_root(receipts: Sequence[Any], form: Form = _ETHEREUM) -> bytes:
    return list_root(encode_receipts(receipts, form.encodings))


def withdrawals_root(withdrawals: Sequence[dict[str, Any]]) -> bytes:
    """Return the root of withdrawals by EIP-4895."""
    return list_root(encode_withdrawals(withdrawals))


def has_its_withdrawals(header: Any, form: Form) -> bool:
    """Return whether the block's withdrawals agree with its withdrawalsRoot."""
    root = header.withdrawalsRoot
    if form.withdraws_to_l1:
        return not header.withdrawals and (root is None or header.withdrawals is not None)
    return root is None or withdrawals_root(header.withdrawals) == data(root)


def contradicting_fields(header: Any, receipts: Sequence[Any]) -> str:
    """Return which fields of a block's body contradict its header or each other, in words; "" where
    all agree, and where types are chain-specific.

    Raises Unencodable, or ValueError, KeyError, TypeError or AttributeError for a malformed field.
    """
    transactions = header.transactions
    types = [transaction.type for transaction in transactions]
    if types != [receipt.type for receipt in receipts]:
        numbers = [*map(type_number, types)]
        if numbers != [type_number(receipt.type) for receipt in receipts]:
            return "types of transactions and receipts"
    try:
        form = own_form(header, receipts)
    except Unencodable as unknown:
        is_like_ethereum = chain_id_of(transactions) in LIKE_ETHEREUM
        return f"{unknown}, which the chain does not have" if is_like_ethereum else ""
    transactions, covered_receipts = covered_by_roots(header, receipts)
    encoded = encode_transactions(transactions, form.encodings)
    if list_root(encoded) != data(header.transactionsRoot):
        return "transactions and transactionsRoot"
    if receipts_root(covered_receipts, form) != data(header.receiptsRoot):
        return "receipts and receiptsRoot"
    if out_of_place := fields_out_of_place(transactions, covered_receipts):
        return out_of_place
    if not has_its_withdrawals(header, form):
        return "withdrawals and withdrawalsRoot"
    if header.uncles is not None and bool(header.uncles) == (data(header.sha3Uncles) == NO_UNCLES):
        return "uncles and sha3Uncles"
    if not _have_hashes(transactions, encoded):
        return "hashes of transactions"
    if out_of_place := fields_out_of_place(header.transactions, receipts):
        return out_of_place
    base_fee = int(header.baseFeePerGas or "0x0", 16)
    return _contradicting_uncovered_fields(transactions, covered_receipts, base_fee)


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


def _have_hashes(transactions: Sequence[Any], encoded: Sequence[bytes]) -> bool:
    hashes = "".join([transaction.hash for transaction in transactions]).replace("0x", "")
    return bytes.fromhex(hashes) == b"".join(map(keccak256, encoded))


def _contradicting_uncovered_fields(
    transactions: Sequence[Any], receipts: Sequence[Any], base_fee: int
) -> str:
    """Return which fields that no root covers contradict fields that determine them; "" if none."""
    gas = [int(receipt.cumulativeGasUsed, 16) for receipt in receipts]
    used = [after - before for before, after in pairwise([0, *gas])]
    if [*map(_sender, transactions)] != [*map(_sender, receipts)]:
        return "senders of transactions and receipts"
    if [int(receipt.gasUsed, 16) for receipt in receipts] != used:
        return "gasUsed and cumulativeGasUsed"
    if not all(map(partial(_has_price, base_fee), transactions, receipts)):
        return "effectiveGasPrice and the fees of transactions"
    pairs = zip(transactions, receipts, strict=True)
    if not all(_creates(*pair) for pair in pairs if pair[0].to is None):
        return "contractAddress and its creator"
    return ""


_sender = attrgetter("from")


def _has_price(base_fee: int, transaction: Any, receipt: Any) -> bool:
    """Return whether the price paid for gas follows from the fees (EIP-1559). For Celo's CIP-64 the
    base fee is the receipt's, in the fee currency."""
    if getattr(transaction, "feeCurrency", None) is not None:
        if receipt.baseFee is None:
            return True  # Celo's early receipts have no base fee
        base_fee = int(receipt.baseFee, 16)
    price = transaction.gasPrice or "0x0"  # only deposits have none
    paid = int(receipt.effectiveGasPrice or price, 16)
    if transaction.maxFeePerGas is None:
        return paid == int(price, 16)
    tip = int(transaction.maxPriorityFeePerGas, 16)
    return paid == min(int(transaction.maxFeePerGas, 16), base_fee + tip)


def _creates(transaction: Any, receipt: Any) -> bool:
    """Return whether the new contract's address follows from its creator and nonce, or the
    transaction failed (Yellow Paper, section 7)."""
    if receipt.status is not None and int(receipt.status, 16) == 0:
        return True
    # Some nodes give a deposit's nonce with its receipt alone.
    nonce = getattr(receipt, "depositNonce", None) or transaction.nonce
    creation = string_item(_sender(transaction)) + quantity_item(nonce)
    address = keccak256(bytes.fromhex(list_item(creation)))[12:]
    return data(receipt.contractAddress) == address
