"""Whether a block's transactions and its other lists agree with its header: their root, hashes and
senders, which the transactions' bytes do not name. Pure, but for the bytes of transactions of
unknown types. Records are the structs of scan/ethereum/blocks.py.

Also the signers of signatures on secp256k1, those of wallets' messages and of authorizations.
"""

from binascii import unhexlify
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec
from coincurve import PublicKey

from scan.ethereum import rlp_and_tries
from scan.ethereum.block_encoding import (
    LISTS,
    TRANSACTION_FIELDS,
    Unencodable,
    block_size,
    encode_transactions,
    type_number,
)
from scan.ethereum.block_hashing import NO_UNCLES, RawBlock, has_its_withdrawals
from scan.ethereum.blocks import MalformedBlock, TransactionJson, read_json
from scan.ethereum.column_types import as_unsigned
from scan.ethereum.forms.form import BLOB_GAS, Form
from scan.ethereum.forms.matching import FIRST_PROTECTED_V
from scan.hex import data, json_object, quantity

FIRST_V = 27  # of signatures that cover no chain id
_WORD = 32  # bytes


def signer(encoded: bytes, v: int, r: bytes, s: bytes) -> bytes | None:
    """Return the address that signed a transaction, given as its bytes and its signature, whose
    numbers are the last items in them, r and s without leading zeros; None where the signature is
    invalid.

    What is signed is all before the signature: with the type (EIP-2718), or with the chain id
    (EIP-155). `v` of a transaction with a type is the parity.
    """
    is_typed = encoded[0] < rlp_and_tries.STRINGS
    parity, chain = v, b""
    if not is_typed and v >= FIRST_PROTECTED_V:
        chain_id, parity = divmod(v - FIRST_PROTECTED_V, 2)
        chain = rlp_and_tries.bytes_item(as_unsigned(chain_id)) + rlp_and_tries.EMPTY_STRING * 2
    elif not is_typed:
        parity = v - FIRST_V
    if parity not in (0, 1) or len(r) > _WORD or len(s) > _WORD:
        return None
    start, _ = rlp_and_tries.content_range(encoded, 1 if is_typed else 0)
    end = len(encoded) - sum(map(len, map(rlp_and_tries.bytes_item, (as_unsigned(v), r, s))))
    unsigned = encoded[start:end] + chain
    message = encoded[:is_typed] + rlp_and_tries.list_prefix_bytes(len(unsigned)) + unsigned
    signature = r.rjust(_WORD, b"\0") + s.rjust(_WORD, b"\0") + bytes((parity,))
    return recover_signer(rlp_and_tries.keccak256(message), signature)


UNSIGNED = "hashes of transactions without a signature"
UNSIGNED_SENDERS = "senders of transactions without a signature"
ADDRESSES_AS_SIGNATURES = "senders of transactions with addresses as signatures"
OTHER_SIGNERS = "senders of transactions and their signatures"
SENDERS = "senders of transactions, which were not compared with signatures"
MALFORMED = (ValueError, KeyError, TypeError)
BLOBS = 3  # the type of transactions with blobs (EIP-4844)


class Contradiction(Exception):
    """What contradicts the block's hash, in words."""


class Sent(NamedTuple):
    """What is known of a block's transactions without its receipts."""

    leaves: Sequence[bytes | None]  # None: the bytes are not known
    unknown: Set[int]  # types whose encoding is not known
    # What test nodes have otherwise, in words: all else has to agree where it is excused.
    excusable: str = ""
    unproven: tuple[str, ...] = ()


class Proof(IntEnum):
    """What proves a single transaction; each member includes those before it."""

    NOTHING = 0  # its type is not Ethereum's, or a test node sent it in another account's name
    HASH = 1  # all but the sender
    SIGNATURE = 2


def proof_of(answer: Any, most: Proof = Proof.SIGNATURE) -> Proof:
    """Return what proves a transaction in a node's JSON, and look for no more than `most`. Raises
    Contradiction where its hash or signature is another's."""
    try:
        # Its hash does not cover blobs, which test nodes keep in it.
        answer = {name: value for name, value in json_object(answer).items() if name != "blobs"}
        type_ = type_number(answer.get("type"))
        transaction = read_json(answer, TransactionJson, 0)
        if type_ not in TRANSACTION_FIELDS or type(transaction) is not TransactionJson.plain:
            return Proof.NOTHING
        [encoded] = encode_transactions([transaction])
        if rlp_and_tries.keccak256(encoded) != data(transaction.hash):
            if _is_signed(transaction):
                raise Contradiction("a transaction and its hash")
            return Proof.NOTHING
        if most == Proof.HASH or _placeholder(transaction, r_and_s := _signature(transaction)):
            return Proof.HASH
        _require_signer(transaction, encoded, type_, r_and_s)
    except (*MALFORMED, MalformedBlock, Unencodable) as error:
        raise Contradiction(f"a transaction and its form: {error!r}") from error
    return Proof.SIGNATURE


def check_sent(
    header: Any, transactions: Sequence[Any], form: Form, raw: RawBlock, computes_senders: bool
) -> Sent:
    """Check what a block has besides receipts, and put its size into it. Uncles, and what else
    blocks of Avalanche have, are not in the header's JSON. Raises Contradiction."""
    known_types = TRANSACTION_FIELDS.keys() | form.encodings.keys()
    unknown = {type_number(type_) for type_ in {t.type for t in header.transactions}} - known_types
    if unknown and _has_false_type(transactions, unknown, form):
        raise Contradiction("types of transactions and their hashes")
    leaves: list[Any] = (
        _leaves_of_unknown_types(transactions, unknown, form, raw)
        if unknown
        else encode_transactions(transactions, form.encodings)
    )
    if None not in leaves and rlp_and_tries.list_root(leaves) != data(header.transactionsRoot):
        raise Contradiction("transactions and transactionsRoot")
    if not has_its_withdrawals(header, form):
        raise Contradiction("withdrawals and withdrawalsRoot")
    if header.uncles is not None and bool(header.uncles) == (data(header.sha3Uncles) == NO_UNCLES):
        raise Contradiction("uncles and sha3Uncles")
    blobs = 0
    for sent in transactions:
        if not (sent.accessList or sent.blobVersionedHashes or sent.authorizationList):
            continue
        number = type_number(sent.type)
        encoding = form.encodings.get(number)
        fields = encoding.transaction if encoding else TRANSACTION_FIELDS.get(number, LISTS)
        for name in LISTS:
            if name not in fields and getattr(sent, name):
                raise Contradiction(f"{name} of transactions of type {number}")
        blobs += len(sent.blobVersionedHashes or ()) if number == BLOBS else 0
    if blobs and BLOB_GAS * blobs != int(header.blobGasUsed or "0x0", 16):
        raise Contradiction("blobs and blobGasUsed")
    if None not in leaves and not header.uncles and header.extDataHash is None:
        header.size = hex(block_size(header, [leaf for leaf in leaves if leaf is not None]))
    others = {
        index
        for index, (sent, leaf) in enumerate(zip(transactions, leaves, strict=True))
        if leaf is not None and rlp_and_tries.keccak256(leaf) != bytes.fromhex(sent.hash[2:])
    }
    if any(_is_signed(transactions[index]) for index in others):
        raise Contradiction("hashes of transactions")
    excusable = UNSIGNED if others else ""
    if not transactions:
        return Sent(leaves, unknown)
    if not computes_senders:
        return Sent(leaves, unknown, excusable, (SENDERS,))
    placeholder, unproven = _check_senders(transactions, leaves, form, others)
    return Sent(leaves, unknown, excusable or placeholder, tuple(unproven))


def _check_senders(
    transactions: Sequence[Any], leaves: Sequence[bytes | None], form: Form, without: Set[int]
) -> tuple[str, list[str]]:
    """Compare senders with signatures. Return what test nodes have in place of signatures, "" where
    all are ones; and whose senders nothing proves, in words. The transactions at the indexes
    `without` have no signature. Raises Contradiction."""
    placeholder, unsigned_types = "", set()
    types = {type_: type_number(type_) for type_ in {t.type for t in transactions}}
    for index, (transaction, leaf) in enumerate(zip(transactions, leaves, strict=True)):
        transaction_type = types[transaction.type]
        encoding = form.encodings.get(transaction_type)
        has_sender = encoding and "from" in encoding.transaction
        if has_sender or leaf is None or index in without:  # the block is not proven for the last
            continue
        is_signed = encoding is None or encoding.transaction[-2:] == ("r", "s")
        if not (is_signed and (encoding or transaction_type in TRANSACTION_FIELDS)):
            unsigned_types.add(transaction_type)
        elif words := _placeholder(transaction, r_and_s := _signature(transaction)):
            placeholder = words
        else:
            _require_signer(transaction, leaf, transaction_type, r_and_s)
    return placeholder, [*map("senders of transactions of type {}".format, sorted(unsigned_types))]


_Signature = tuple[bytes, bytes]  # r and s without leading zeros


def _signature(transaction: Any) -> _Signature:
    r, s = (unhexlify(text[2:].zfill(2 * _WORD)) for text in (transaction.r, transaction.s))
    return r.lstrip(b"\0"), s.lstrip(b"\0")


def _placeholder(transaction: Any, r_and_s: _Signature) -> str:
    """Return what a test node has in place of a signature, in words; "" for a signature."""
    r, s = r_and_s
    if r == s == b"":
        return UNSIGNED_SENDERS
    is_sender = r == s == data(getattr(transaction, "from"), 20).lstrip(b"\0")
    return ADDRESSES_AS_SIGNATURES if is_sender else ""


def _require_signer(transaction: Any, encoded: bytes, type_: int, r_and_s: _Signature) -> None:
    """Raise Contradiction unless a transaction's sender signed it."""
    v = int(transaction.yParity if type_ else transaction.v, 16)
    if signer(encoded, v, *r_and_s) != data(getattr(transaction, "from"), 20):
        raise Contradiction(OTHER_SIGNERS)


def _has_false_type(transactions: Sequence[Any], unknown: Set[int], form: Form) -> bool:
    """Return whether a transaction with an unknown type has the hash of one with a known type."""
    for transaction in transactions:
        if type_number(transaction.type) not in unknown:
            continue
        for number in TRANSACTION_FIELDS.keys() | form.encodings.keys():
            typed = msgspec.structs.replace(transaction, type=hex(number))
            with suppress(*MALFORMED):
                [encoded] = encode_transactions([typed], form.encodings)
                if rlp_and_tries.keccak256(encoded) == data(transaction.hash):
                    return True
    return False


def _leaves_of_unknown_types(
    transactions: Sequence[Any], unknown: Set[int], form: Form, raw: RawBlock
) -> list[bytes | None]:
    """Return the encoded transactions; None for each of an unknown type whose bytes are not known,
    or do not have its hash."""
    known_transactions = [t for t in transactions if type_number(t.type) not in unknown]
    encoded = iter(encode_transactions(known_transactions, form.encodings))
    leaves: list[bytes | None] = []
    for index, transaction in enumerate(transactions):
        number = type_number(transaction.type)
        if number not in unknown:
            leaves.append(next(encoded))
            continue
        leaf = raw.transaction(index, transaction.hash)
        has_hash = (
            leaf and leaf[0] == number and rlp_and_tries.keccak256(leaf) == data(transaction.hash)
        )
        leaves.append(leaf if has_hash else None)
    return leaves


def _is_signed(transaction: Any) -> bool:
    """Return whether a transaction has a signature; those that test nodes send in another account's
    name have zeros, and a hash of their own."""
    return any(int(getattr(transaction, name, None) or "0x1", 16) for name in ("r", "s"))


# Order of secp256k1 (SEC 2, 2.4.1). EIP-2 allows only the lower half of s, so that nobody can
# turn a signature into a second valid one.
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


class Signature(NamedTuple):
    y_parity: int
    r: int
    s: int

    @property
    def is_in_range(self) -> bool:
        """Whether its values are those of a valid signature in its one canonical form (EIP-2)."""
        is_in_curve = 0 < self.r < CURVE_ORDER and 0 < self.s <= CURVE_ORDER // 2
        return is_in_curve and self.y_parity in (0, 1)

    def to_bytes(self) -> bytes:
        """Return its 65 bytes: r, s and the parity."""
        return self.r.to_bytes(32) + self.s.to_bytes(32) + bytes([self.y_parity])


def with_signers(authorizations: Iterable[Any]) -> list[tuple[Any, bytes | None]]:
    """Return entries of an authorizationList (EIP-7702) in JSON, each with who signed it, or None
    where the signature is invalid. Raises BadHex, KeyError and TypeError."""
    signed = []
    for entry in authorizations:
        chain_id, nonce, *numbers = (
            quantity(entry[name]) for name in ("chainId", "nonce", "yParity", "r", "s")
        )
        fields = as_unsigned(chain_id), data(entry["address"], 20), as_unsigned(nonce)
        items = b"".join(map(rlp_and_tries.bytes_item, fields))
        message = b"\5" + rlp_and_tries.list_prefix_bytes(len(items)) + items
        hashed, signature = rlp_and_tries.keccak256(message), Signature(*numbers)
        is_valid = signature.is_in_range
        signed.append((entry, recover_signer(hashed, signature.to_bytes()) if is_valid else None))
    return signed


def recover_signer(hashed: bytes, signature: bytes) -> bytes | None:
    """Return the 20-byte address that signed a message hash; None if r is not on the curve."""
    try:
        key = PublicKey.from_signature_and_message(signature, hashed, hasher=None)
    except ValueError:
        return None
    return rlp_and_tries.keccak256(key.format(compressed=False)[1:])[12:]
