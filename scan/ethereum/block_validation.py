"""Whether a block's transactions, receipts and withdrawals agree with its header. Pure, but for the
bytes of parts that it cannot encode, which are read from the node.

Records are the structs of scan/ethereum/blocks.py.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from scan.ethereum.blob_checks import unproven_blob_prices
from scan.ethereum.block_encoding import (
    Unencodable,
    encode_log,
    encode_receipts,
    type_number,
)
from scan.ethereum.block_hashing import (
    ETHEREUM,
    covered_by_roots,
    fields_out_of_place,
    own_form,
    uncompared,
)
from scan.ethereum.forms.form import Encoding, Form
from scan.ethereum.keccak import keccak256
from scan.ethereum.merkle_trie import list_root
from scan.ethereum.raw_blocks import NoBytes
from scan.ethereum.rlp import list_item, quantity_item, split_list, string_item, strings_within
from scan.ethereum.transaction_checks import Contradiction, check_sent
from scan.ethereum.unknown_fields import are_within
from scan.hex import data

NO_BYTES = "unknown to this version of Scan, of which the node gives no bytes: update Scan"
STATUSES = "statuses, which receipts before Byzantium do not have"
_NO_BYTES = NoBytes()
_WITH_GAS_PRICE = ("0x0", "0x1", None)
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError)
_MOST_RECEIPT_ITEMS = 64
# Fields of a transaction that its bytes have in any type.
_SIGNED = {"nonce": quantity_item, "value": quantity_item, "to": string_item, "input": string_item}


class Verdict(NamedTuple):
    """What contradicts a block's hash, in words, "" if nothing does; and what no hash proves."""

    contradiction: str = ""
    unproven: tuple[str, ...] = ()


def check_body(
    header: Any,
    receipts: Sequence[Any],
    raw: NoBytes = _NO_BYTES,
    chain_id: int | None = None,
    leaves: Sequence[bytes] | None = None,
    *,
    computes_senders: bool = True,
) -> Verdict:
    """Compare a block's body with its header, and parts of it with each other.

    `leaves` are the encoded receipts, where these have no logs any more. Unless it
    `computes_senders` by signatures, which takes most of the time, senders are not proven.
    """
    try:
        return _check(header, receipts, raw, chain_id, leaves, computes_senders)
    except (Contradiction, Unencodable) as error:
        return Verdict(str(error))
    except _MALFORMED as error:
        return Verdict(f"malformed fields ({type(error).__name__})")


def contradicting_fields(header: Any, receipts: Sequence[Any], chain_id: int | None = None) -> str:
    """Return which fields of a block's body contradict its header or each other, in words."""
    return check_body(header, receipts, chain_id=chain_id).contradiction


def _check(
    header: Any,
    receipts: Sequence[Any],
    raw: NoBytes,
    chain_id: int | None,
    receipt_leaves: Sequence[bytes] | None,
    computes_senders: bool,
) -> Verdict:
    types = [transaction.type for transaction in header.transactions]
    if types != [receipt.type for receipt in receipts]:
        numbers = [*map(type_number, types)]
        if numbers != [type_number(receipt.type) for receipt in receipts]:
            return Verdict("types of transactions and receipts")
    form = own_form(header, receipts, chain_id)
    transactions, covered_receipts = covered_by_roots(header, receipts, chain_id)
    leaves, unknown, excusable, unproven = check_sent(
        header, transactions, form, raw, computes_senders
    )
    encodings = {**form.encodings, **dict.fromkeys(unknown, Encoding(()))}
    if receipt_leaves is None:
        has_receipts_root = _have_root(header, covered_receipts, unknown, encodings, raw)
    else:
        root = list_root(receipt_leaves[: len(covered_receipts)])
        is_other = root != data(header.receiptsRoot)
        has_receipts_root = not is_other if not (is_other and unknown) else None
    if has_receipts_root is False:
        return Verdict("receipts and receiptsRoot")
    if out_of_place := fields_out_of_place(transactions, covered_receipts):
        return Verdict(out_of_place)
    if out_of_place := fields_out_of_place(header.transactions, receipts):
        return Verdict(out_of_place)
    words = [*uncompared(header, receipts, chain_id), *unproven]
    if None in leaves or not has_receipts_root:
        if unnamed := unknown - form.type_names.keys():
            return Verdict(f"transactions of type {min(unnamed)}, {NO_BYTES}")
        words += [f"transactions of type {number}" for number in sorted(unknown)]
    words += _fields_beyond_bytes(transactions, leaves, unknown)
    if unknown and has_receipts_root and not _have_usual_root(header, covered_receipts, encodings):
        words += [
            f"status and price of transactions of type {number}" for number in sorted(unknown)
        ]
    if None in [receipt.status for receipt in covered_receipts] and any(
        map(_may_have_failed, transactions, covered_receipts)
    ):
        words.append(STATUSES)
    words += unproven_blob_prices(header, transactions, covered_receipts, raw, chain_id)
    if unknown and form is not ETHEREUM:  # prices follow from other fields there
        return Verdict(excusable, tuple(words))
    base_fee = int(header.baseFeePerGas or "0x0", 16)
    pairs = [*zip(transactions, covered_receipts, strict=True)]
    if of_input := {
        hex(number) for number, encoding in form.encodings.items() if encoding.is_input
    }:
        if not all(_has_no_parties(*pair) for pair in pairs if pair[0].type in of_input):
            return Verdict("parties of transactions without any")
        pairs = [pair for pair in pairs if pair[0].type not in of_input]
    if unknown:
        pairs = [pair for pair in pairs if type_number(pair[0].type) not in unknown]
    fields = _contradicting_uncovered_fields(pairs, covered_receipts, base_fee, form)
    return Verdict(fields or excusable, tuple(words))


def _have_usual_root(
    header: Any,
    receipts: Sequence[Any],
    encodings: Mapping[int, Encoding],
    *,
    may_be_malformed: bool = True,
) -> bool:
    """Return whether receiptsRoot is that of receipts which have all fields of Ethereum's."""
    with suppress(*_MALFORMED if may_be_malformed else ()):
        return list_root(encode_receipts(receipts, encodings)) == data(header.receiptsRoot)
    return False


def _have_root(
    header: Any,
    receipts: Sequence[Any],
    unknown: Set[int],
    encodings: Mapping[int, Encoding],
    raw: NoBytes,
) -> bool | None:
    """Return whether receipts agree with receiptsRoot; None where it cannot be known.

    An unknown type's receipt is tried as those of Ethereum's types. Else the node's bytes are
    hashed, and what is known of a receipt has to be within them.
    """
    if _have_usual_root(header, receipts, encodings, may_be_malformed=bool(unknown)):
        return True
    root = data(header.receiptsRoot)
    leaves = raw.receipts()
    if leaves is None or len(leaves) != len(receipts) or list_root(leaves) != root:
        return None if unknown else False
    with suppress(ValueError):  # an unknown type's receipt may be no RLP
        return all(map(partial(_is_within, unknown, encodings), receipts, leaves))
    return None if unknown else False


def _is_within(
    unknown: Set[int], encodings: Mapping[int, Encoding], receipt: Any, leaf: bytes
) -> bool:
    number = type_number(receipt.type)
    content = leaf[1:] if number else leaf
    if number and leaf[:1] != bytes([number]):
        return False
    if number not in unknown:
        [encoded] = encode_receipts([receipt], encodings)
        items = split_list(encoded[1:] if number else encoded, _MOST_RECEIPT_ITEMS)
        return are_within(items, split_list(content, _MOST_RECEIPT_ITEMS))
    payer = getattr(receipt, "payer", None)
    items = split_list(content, _MOST_RECEIPT_ITEMS)
    if payer is not None and bytes.fromhex(string_item(payer)) not in items:
        return False
    gas = bytes.fromhex(quantity_item(receipt.cumulativeGasUsed))
    return gas in strings_within(content) and all(encode_log(log) in leaf for log in receipt.logs)


def _fields_beyond_bytes(
    transactions: Sequence[Any], leaves: Sequence[bytes | None], unknown: Set[int]
) -> Iterator[str]:
    """Yield which fields of transactions of unknown types their bytes do not have."""
    absent: dict[tuple[int, str], None] = {}
    for transaction, leaf in zip(transactions, leaves, strict=True) if unknown else ():
        number = type_number(transaction.type)
        if leaf is None or number not in unknown:
            continue
        strings: set[bytes] = set()
        with suppress(ValueError):
            strings = strings_within(leaf[1:])
        for name, item in _SIGNED.items():
            value = getattr(transaction, name)
            is_absent = value is not None and bytes.fromhex(item(value)) not in strings
            if is_absent and value not in ("0x", "0x0"):
                absent[number, name] = None
    return (f"{name} of transactions of type {number}" for number, name in absent)


def _contradicting_uncovered_fields(
    pairs: Sequence[tuple[Any, Any]], receipts: Sequence[Any], base_fee: int, form: Form
) -> str:
    """Return which fields that no root covers contradict fields that determine them; "" if none.
    `pairs` are the transactions of known types with their receipts, `receipts` are all."""
    gas = [int(receipt.cumulativeGasUsed, 16) for receipt in receipts]
    used = [after - before for before, after in pairwise([0, *gas])]
    if any(_sender(transaction) != _sender(receipt) for transaction, receipt in pairs):
        return "senders of transactions and receipts"
    if [int(receipt.gasUsed, 16) for receipt in receipts] != used:
        return "gasUsed and cumulativeGasUsed"
    pays_in_tokens = form.pays_in_tokens is not None
    if not all(_has_price(base_fee, *pair, pays_in_tokens) for pair in pairs):
        return "effectiveGasPrice and the fees of transactions"
    if not all(_creates(*pair) for pair in pairs if pair[0].to is None):
        return "contractAddress and its creator"
    return ""


_sender = attrgetter("from")


def _has_no_parties(transaction: Any, receipt: Any) -> bool:
    """Return whether a transaction whose input is all of it names no more: neither sender nor
    recipient, and no value."""
    numbers = (_sender(transaction), _sender(receipt), transaction.gas, transaction.value)
    has_recipient = transaction.to is not None or receipt.contractAddress is not None
    return not has_recipient and not any(int(number or "0x0", 16) for number in numbers)


def _may_have_failed(transaction: Any, receipt: Any) -> bool:
    """Return whether a transaction without a status may have failed. Before Byzantium one that
    failed used all of its gas."""
    has_status = receipt.status is not None or receipt.root is None
    return not has_status and int(receipt.gasUsed, 16) == int(transaction.gas, 16)


def _has_price(base_fee: int, transaction: Any, receipt: Any, pays_in_tokens: bool) -> bool:
    """Return whether the price paid for gas follows from the fees (EIP-1559). For Celo's CIP-64 the
    base fee is the receipt's, in the fee currency."""
    if pays_in_tokens and getattr(transaction, "feeCurrency", None) is not None:
        if receipt.baseFee is None:
            return True  # Celo's early receipts have no base fee
        base_fee = int(receipt.baseFee, 16)
    price = transaction.gasPrice or "0x0"  # only deposits have none
    paid = int(receipt.effectiveGasPrice or price, 16)
    if transaction.maxFeePerGas is None or transaction.type in _WITH_GAS_PRICE:
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
