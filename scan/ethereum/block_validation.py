"""Whether a block's transactions, receipts and withdrawals agree with its header. Pure, but for the
bytes of parts that it cannot encode, which are read from the node.

Records are the structs of scan/ethereum/blocks.py.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from enum import Enum
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from scan.ethereum import block_hashing, fork_schedule
from scan.ethereum import rlp_and_tries as rlp
from scan.ethereum.block_encoding import Unencodable, encode_log, encode_receipts, type_number
from scan.ethereum.forms.form import Encoding, Form
from scan.ethereum.transaction_checks import MALFORMED, Contradiction, check_sent
from scan.hex import data

RECEIPTS = "receipts and receiptsRoot"
NO_BYTES = "unknown to this version of Scan, of which the node gives no bytes: update Scan"
STATUSES = "statuses, which receipts before Byzantium do not have"
_NO_BYTES = block_hashing.RawBlock(block_hashing.RawBlocks(), 0)
_WITH_GAS_PRICE = ("0x0", "0x1", None)
_MOST_RECEIPT_ITEMS = 64
# Fields of a transaction that its bytes have in any type.
_SIGNED = {
    "nonce": rlp.quantity_item,
    "value": rlp.quantity_item,
    "to": rlp.string_item,
    "input": rlp.string_item,
}


class Verdict(NamedTuple):
    """What contradicts a block's hash, in words, "" if nothing does; what no hash proves; and the
    encodings of the first transactions, None without one, and receipts, none where not all of these
    are proven by their fields."""

    contradiction: str = ""
    unproven: tuple[str, ...] = ()
    sent: Sequence[bytes | None] = ()
    received: Sequence[bytes] = ()


def check_body(
    header: Any,
    receipts: Sequence[Any],
    raw: block_hashing.RawBlock = _NO_BYTES,
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
        types, others = ([record.type for record in of] for of in (header.transactions, receipts))
        if types != others and [*map(type_number, types)] != [*map(type_number, others)]:
            raise Contradiction("types of transactions and receipts")
        form = block_hashing.form_of_roots(header, receipts, chain_id)
        sent, received = block_hashing.covered_by_roots(header, receipts, chain_id)
        encoded, unknown, excusable, unproven = check_sent(
            header, sent, form, raw, computes_senders
        )
        if leaves is None:
            encodings = {**form.encodings, **dict.fromkeys(unknown, Encoding(()))}
            proof, leaves = _proof_of_receipts(header, received, unknown, encodings, raw)
        else:
            is_proven = rlp.list_root(leaves[: len(received)]) == data(header.receiptsRoot)
            proof = Proof.FIELDS if is_proven else _no_proof(unknown)
        if out_of_place := block_hashing.fields_out_of_place(header.transactions, receipts):
            raise Contradiction(out_of_place)
        # Before Byzantium a transaction that failed used all of its gas.
        may_have_failed = any(
            receipt.status is None
            and receipt.root is not None
            and int(receipt.gasUsed, 16) == int(transaction.gas, 16)
            for transaction, receipt in zip(sent, received, strict=True)
        )
        words = (
            *block_hashing.uncompared(
                header, receipts, chain_id, has_state_sync=len(received) < len(receipts)
            ),
            *unproven,
            *(_unproven_types(sent, encoded, unknown, proof, form) if unknown else ()),
            *((STATUSES,) if may_have_failed else ()),
            *fork_schedule.unproven_blob_prices(header, sent, received, raw, chain_id),
        )
        if unknown and form is not block_hashing.ETHEREUM:  # prices follow from other fields there
            return Verdict(excusable, words, encoded, leaves)
        base_fee = int(header.baseFeePerGas or "0x0", 16)
        fields = _contradicting_uncovered_fields(sent, received, unknown, base_fee, form)
        return Verdict(fields or excusable, words, encoded, leaves)
    except (Contradiction, Unencodable) as error:
        return Verdict(str(error))
    except MALFORMED as error:
        return Verdict(f"malformed fields ({type(error).__name__})")


class Proof(Enum):
    """What shows that receipts have the header's receiptsRoot."""

    FIELDS = "all fields of Ethereum's receipts, encoded"
    BYTES = "the node's bytes, which have what is known of the receipts within them"
    NONE = "nothing, as a transaction's type is unknown"


def _proof_of_receipts(
    header: Any,
    receipts: Sequence[Any],
    unknown: Set[int],
    encodings: Mapping[int, Encoding],
    raw: block_hashing.RawBlock,
) -> tuple[Proof, Sequence[bytes]]:
    """Return what proves the receipts, and their encodings where their fields do. An unknown type's
    receipt is tried as those of Ethereum's types, then by the node's bytes. Raises Contradiction
    where they have another root."""
    root = data(header.receiptsRoot)
    with suppress(*MALFORMED if unknown else ()):
        leaves = encode_receipts(receipts, encodings)
        if rlp.list_root(leaves) == root:
            return Proof.FIELDS, leaves
    raw_leaves = raw.receipts()
    if raw_leaves is None or len(raw_leaves) != len(receipts) or rlp.list_root(raw_leaves) != root:
        return _no_proof(unknown), ()
    with suppress(ValueError):  # an unknown type's receipt may be no RLP
        if all(map(partial(_is_within, unknown, encodings), receipts, raw_leaves)):
            return Proof.BYTES, ()
        raise Contradiction(RECEIPTS)
    return _no_proof(unknown), ()


def _no_proof(unknown: Set[int]) -> Proof:
    """Raise Contradiction where the encodings of all receipts are known."""
    if not unknown:
        raise Contradiction(RECEIPTS)
    return Proof.NONE


def _is_within(
    unknown: Set[int], encodings: Mapping[int, Encoding], receipt: Any, leaf: bytes
) -> bool:
    number = type_number(receipt.type)
    content = leaf[1:] if number else leaf
    if number and leaf[:1] != bytes([number]):
        return False
    if number not in unknown:
        [encoded] = encode_receipts([receipt], encodings)
        items = rlp.split_list(encoded[1:] if number else encoded, _MOST_RECEIPT_ITEMS)
        return block_hashing.are_within(items, rlp.split_list(content, _MOST_RECEIPT_ITEMS))
    payer = getattr(receipt, "payer", None)
    items = rlp.split_list(content, _MOST_RECEIPT_ITEMS)
    if payer is not None and bytes.fromhex(rlp.string_item(payer)) not in items:
        return False
    gas = bytes.fromhex(rlp.quantity_item(receipt.cumulativeGasUsed))
    return gas in rlp.strings_within(content) and all(
        encode_log(log) in leaf for log in receipt.logs
    )


def _unproven_types(
    transactions: Sequence[Any],
    leaves: Sequence[bytes | None],
    unknown: Set[int],
    proof: Proof,
    form: Form,
) -> Iterator[str]:
    """Yield what nothing proves of transactions of unknown types. Raises Contradiction where that
    is all of them, and their chain's form does not name the type."""
    if None in leaves or proof is Proof.NONE:
        if unnamed := unknown - form.type_names.keys():
            raise Contradiction(f"transactions of type {min(unnamed)}, {NO_BYTES}")
        yield from (f"transactions of type {number}" for number in sorted(unknown))
    absent: dict[tuple[int, str], None] = {}  # fields that the bytes do not have, by type
    for transaction, leaf in zip(transactions, leaves, strict=True):
        number = type_number(transaction.type)
        if leaf is None or number not in unknown:
            continue
        strings: set[bytes] = set()
        with suppress(ValueError):
            strings = rlp.strings_within(leaf[1:])
        for name, item in _SIGNED.items():
            value = getattr(transaction, name)
            is_absent = value is not None and bytes.fromhex(item(value)) not in strings
            if is_absent and value not in ("0x", "0x0"):
                absent[number, name] = None
    yield from (f"{name} of transactions of type {number}" for number, name in absent)
    if proof is Proof.BYTES:
        for number in sorted(unknown):
            yield f"status and price of transactions of type {number}"


def _contradicting_uncovered_fields(
    transactions: Sequence[Any],
    receipts: Sequence[Any],
    unknown: Set[int],
    base_fee: int,
    form: Form,
) -> str:
    """Return which fields that no root covers contradict fields that determine them; "" if none.
    Of unknown types nothing is known that does."""
    pairs = [*zip(transactions, receipts, strict=True)]
    of_input = {hex(number) for number, encoding in form.encodings.items() if encoding.is_input}
    if not all(_has_no_parties(*pair) for pair in pairs if pair[0].type in of_input):
        return "parties of transactions without any"
    if of_input or unknown:
        left_out = of_input | {*map(hex, unknown)}
        pairs = [pair for pair in pairs if hex(type_number(pair[0].type)) not in left_out]
    if any(_sender(transaction) != _sender(receipt) for transaction, receipt in pairs):
        return "senders of transactions and receipts"
    gas = [int(receipt.cumulativeGasUsed, 16) for receipt in receipts]
    used = [after - before for before, after in pairwise([0, *gas])]
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
    creation = rlp.string_item(_sender(transaction)) + rlp.quantity_item(nonce)
    address = rlp.keccak256(bytes.fromhex(rlp.list_item(creation)))[12:]
    return data(receipt.contractAddress) == address
