"""How consensus encodes headers, transactions, receipts and withdrawals: tables of fields. Pure.

A type of transaction (EIP-2718) is an entry of TRANSACTION_FIELDS, and one of RECEIPT_FIELDS;
`encodings` has the types of a chain's form. A field that _ITEMS does not name is a QUANTITY.
Records are the structs of scan/ethereum/blocks.py, which read the fields that are named here; sizes
of addresses and topics are checked there. A block's records are encoded a field at a time, which
takes a quarter of the time that one record after another takes.
"""

from binascii import unhexlify
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import msgspec

from scan.ethereum import rlp_and_tries as rlp
from scan.ethereum.forms.form import Encoding
from scan.hex import data, to_hex

_Items = Callable[[Sequence[Any]], Iterable[str]]  # of the values of a field, one for each record

_HEADER = tuple(
    """
    parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number
    gasLimit gasUsed timestamp extraData mixHash nonce
    """.split()
)
# Encoded where the header has them.
_LATER_HEADER = tuple(
    """
    baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash
    blockAccessListHash slotNumber
    """.split()
)
_SUBNET_EVM = tuple(
    """
    blockGasCost blobGasUsed excessBlobGas parentBeaconBlockRoot timestampMilliseconds
    minDelayExcess
    """.split()
)
# Headers of other chains, each by a field that no header before it in the table has.
# Avalanche's C-Chain and Subnet-EVM: plugin/evm/customtypes/header_ext.go of ava-labs/coreth and
# ava-labs/subnet-evm. AuRa, such as Gnosis before its merge, has a step and a signature instead of
# mixHash and nonce: HeaderDecoder.cs of Nethermind, whose names are step and signature; Erigon's
# are the last two.
_OTHER_HEADERS = {
    "extDataHash": (*_HEADER, "extDataHash", "baseFeePerGas", "extDataGasUsed", *_SUBNET_EVM),
    "blockGasCost": (*_HEADER, "baseFeePerGas", *_SUBNET_EVM),
    "signature": (*_HEADER[:-2], "step", "signature", *_LATER_HEADER),
    "auraSeal": (*_HEADER[:-2], "auraStep", "auraSeal", *_LATER_HEADER),
}
_FORM_SIGNS = ("extDataHash", "blockGasCost")
ETHEREUM_HEADER = (*_HEADER, *_LATER_HEADER)
HEADER_FIELDS = tuple(
    dict.fromkeys(chain(ETHEREUM_HEADER, chain.from_iterable(_OTHER_HEADERS.values())))
)
HEADER_QUANTITIES = frozenset(
    """
    difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas slotNumber
    extDataGasUsed blockGasCost timestampMilliseconds minDelayExcess step auraStep
    """.split()
)
# The mixHash of blocks of IBFT and QBFT, whose extraData has commit seals (EIP-650).
_BFT_MIX_HASH = "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365"
_VANITY_BYTES = 32

_CALL = ("gas", "to", "value", "input")
_FEES = ("maxPriorityFeePerGas", "maxFeePerGas")
_SIGNATURE = ("yParity", "r", "s")
_PARITIES = {"0x1b": "0x0", "0x1c": "0x1"}  # by v
_BLOBS = ("maxFeePerBlobGas", "blobVersionedHashes")
TRANSACTION_FIELDS: Mapping[int, Sequence[str]] = {
    0: ("nonce", "gasPrice", *_CALL, "v", "r", "s"),
    1: ("chainId", "nonce", "gasPrice", *_CALL, "accessList", *_SIGNATURE),
    2: ("chainId", "nonce", *_FEES, *_CALL, "accessList", *_SIGNATURE),
    3: ("chainId", "nonce", *_FEES, *_CALL, "accessList", *_BLOBS, *_SIGNATURE),
    4: ("chainId", "nonce", *_FEES, *_CALL, "accessList", "authorizationList", *_SIGNATURE),
}
_RECEIPT = ("status", "cumulativeGasUsed", "logsBloom", "logs")
RECEIPT_FIELDS: Mapping[int, Sequence[str]] = dict.fromkeys(TRANSACTION_FIELDS, _RECEIPT)
# Fields that are read besides those that are stored. `blobs`: test nodes keep blobs in blocks.
TRANSACTION_NAMES = ("v", "blobs", *chain.from_iterable(TRANSACTION_FIELDS.values()))
RECEIPT_NAMES = ("root", *chain.from_iterable(RECEIPT_FIELDS.values()))

# Lists that transactions of some types have. No hash covers those of other types.
LISTS = ("accessList", "blobVersionedHashes", "authorizationList")
_WITHDRAWAL = ("index", "validatorIndex", "address", "amount")
AUTHORIZATION = ("chainId", "address", "nonce", "yParity", "r", "s")


_BYTE_CHARACTERS = 4  # of DATA of one byte, which may be its own item

_NO_OWN: Mapping[int, Encoding] = {}


BLOBS_INSIDE = "blobs inside the block, as test nodes keep them"


class Unencodable(Exception):
    """A part of a block in a chain-specific form, whose hash cannot be computed."""


class _Encoder(NamedTuple):
    """The fields of records of one type, and the functions that encode each of them."""

    values: Callable[[Any], tuple[Any, ...]]  # of a record
    items: Sequence[_Items]
    type_digits: str = ""  # before the list (EIP-2718)

    def encode(self, records: Sequence[Any]) -> Iterable[str]:
        columns = list(zip(*map(self.values, records), strict=True)) or [()] * len(self.items)
        items = [encode(column) for encode, column in zip(self.items, columns, strict=True)]
        digits = self.type_digits
        return [
            f"{digits}{rlp.list_prefix(len(text) // 2)}{text}"
            for text in map("".join, zip(*items, strict=True))
        ]


class _InputEncoder(NamedTuple):
    """Encodes transactions whose input is all of them but the type."""

    type_digits: str

    def encode(self, transactions: Sequence[Any]) -> Iterable[str]:
        return [self.type_digits + transaction.input[2:] for transaction in transactions]


def encode_header(header: Any, sign: str = "") -> bytes:
    [encoded] = _HEADER_ENCODERS[sign].encode([header])
    return unhexlify(encoded)


def encode_header_of_chains(header: Any) -> Iterator[bytes]:
    """Yield each encoding that a header may have on some chain. A header with a field of
    _FORM_SIGNS is never encoded as Ethereum's: its hash has to cover that field."""
    sign = next((sign for sign in _OTHER_HEADERS if getattr(header, sign) is not None), "")
    if sign not in _FORM_SIGNS and header.mixHash is not None:
        yield encode_header(header)
    if sign:
        if isinstance(header.step, int):
            header.step = hex(header.step)
        yield encode_header(header, sign)
    if header.mixHash == _BFT_MIX_HASH:
        for extra_data in _without_commit_seals(data(header.extraData)):
            yield encode_header(msgspec.structs.replace(header, extraData=to_hex(extra_data)))


def _without_commit_seals(extra_data: bytes) -> Iterator[bytes]:
    """Yield what a block's hash may cover of extraData in IBFT, IBFT 2.0 and QBFT.

    core/types/istanbul.go of Consensys/quorum; IbftExtraDataCodec.java, QbftExtraDataCodec.java of
    hyperledger/besu: IBFT 2.0 leaves round and seals out, QBFT has round 0 and no seals.
    """
    vanity, items = extra_data[:_VANITY_BYTES], rlp.split_list(extra_data[_VANITY_BYTES:], 3)
    if len(items) == 3:
        yield vanity + rlp.join_list([*items[:2], rlp.EMPTY_LIST])
    items = rlp.split_list(extra_data, 5)
    if len(items) == 5:
        yield rlp.join_list(items[:3])
        yield rlp.join_list([*items[:3], rlp.EMPTY_STRING, rlp.EMPTY_LIST])


def encode_transactions(
    transactions: Sequence[Any], encodings: Mapping[int, Encoding] = _NO_OWN
) -> list[bytes]:
    """Encode transactions as the leaves of transactionsRoot.

    Raises Unencodable for an unknown type, ValueError or TypeError for a malformed field, as all
    functions of this module do.
    """
    for transaction in transactions:
        if transaction.blobs:
            raise Unencodable(BLOBS_INSIDE)
        if transaction.yParity is None:  # some nodes return only v
            transaction.yParity = _PARITIES.get(transaction.v, transaction.v)
    forms: list[tuple[Any, ...]] = [(t.type,) for t in transactions]
    if encodings:
        forms = [(type_, encodings.get(type_number(type_))) for (type_,) in forms]
    return _encode_by_form(forms, transactions, _transaction_encoder)


def encode_receipts(
    receipts: Sequence[Any], encodings: Mapping[int, Encoding] = _NO_OWN
) -> list[bytes]:
    forms: list[tuple[Any, ...]] = [(r.type, r.status is None) for r in receipts]
    for index, receipt in enumerate(receipts if encodings else ()):
        encoding = encodings.get(type_number(receipt.type))
        tail = encoding and encoding.receipt_tail
        if tail and any(getattr(receipt, name) is None for name in tail):
            tail = ()
        forms[index] += (tail,)
    return _encode_by_form(forms, receipts, _receipt_encoder)


def encode_log(log: Any) -> bytes:
    return unhexlify(_log(log))


def encode_withdrawals(withdrawals: Sequence[dict[str, Any]]) -> list[bytes]:
    """Encode withdrawals (EIP-4895), given as JSON's objects."""
    return [*map(unhexlify, _WITHDRAWAL_ENCODER.encode(withdrawals))]


def block_size(header: Any, transactions: Sequence[bytes], uncles: Sequence[bytes] = ()) -> int:
    """Return the bytes of a block's encoding, which nodes call its size and no hash covers. It is
    given as a struct, with its encoded transactions and uncles. A typed transaction is a string in
    the list (EIP-2718)."""
    items = (
        len(sent) + (0 if sent[0] >= rlp.LISTS else len(rlp.string_prefix_bytes(len(sent))))
        for sent in transactions
    )
    lists = [sum(items), sum(map(len, uncles))]
    if header.withdrawalsRoot is not None and header.withdrawals is not None:
        lists.append(sum(map(len, encode_withdrawals(header.withdrawals))))
    sign = next((sign for sign in _OTHER_HEADERS if getattr(header, sign) is not None), "")
    has_own_form = sign in _FORM_SIGNS or header.mixHash is None
    whole_header = encode_header(header, sign if has_own_form else "")  # a hash may cover less
    return _list_bytes(len(whole_header) + sum(map(_list_bytes, lists)))


def _list_bytes(content: int) -> int:
    return len(rlp.list_prefix_bytes(content)) + content


def type_number(text: str | None) -> int:
    """Return a type as a number: 0 for None, as nodes from before EIP-2718 give no type."""
    return 0 if text is None else int(text, 16)


def _encode_by_form(
    forms: Sequence[tuple[Any, ...]],
    records: Sequence[Any],
    encoder: Callable[..., _Encoder | _InputEncoder],
) -> list[bytes]:
    """Return the encodings in the order of records; all records of a form are encoded at once."""
    indexes: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for index, form in enumerate(forms):
        indexes[form].append(index)
    encoded = [b""] * len(records)
    for form, positions in indexes.items():
        texts = encoder(*form).encode([records[index] for index in positions])
        for index, text in zip(positions, texts, strict=True):
            encoded[index] = unhexlify(text)
    return encoded


@lru_cache(64)
def _transaction_encoder(
    type_: str | None, encoding: Encoding | None = None
) -> _Encoder | _InputEncoder:
    number = type_number(type_)
    if encoding and encoding.is_input:
        return _InputEncoder(f"{number:02x}")
    fields = encoding.transaction if encoding else TRANSACTION_FIELDS.get(number)
    if fields is None:
        raise Unencodable(f"transactions of type {number}")
    return _encoder(attrgetter, fields, number)


@lru_cache(64)
def _receipt_encoder(
    type_: str | None, has_root: bool, own_tail: tuple[str, ...] | None = None
) -> _Encoder:
    number = type_number(type_)
    if number not in RECEIPT_FIELDS and own_tail is None:
        raise Unencodable(f"receipts of type {number}")
    # Receipts before Byzantium have a state root in place of the status (EIP-658).
    fields = ["root" if n == "status" and has_root else n for n in _RECEIPT]
    return _encoder(attrgetter, [*fields, *(own_tail or ())], number)


def _encoder(getter: Callable[..., Any], fields: Sequence[str], type_: int = 0) -> _Encoder:
    items = [_ITEMS.get(name, rlp.quantity_items) for name in fields]
    return _Encoder(getter(*fields), items, f"{type_:02x}" if type_ else "")


def _header_items(name: str) -> _Items:
    items = rlp.quantity_items if name in HEADER_QUANTITIES else rlp.string_items
    return items if name in _HEADER else lambda texts: [""] if texts == (None,) else items(texts)


def _access_list(entries: Sequence[dict[str, Any]] | None) -> str:
    if not entries:
        return "c0"
    items = [rlp.string_item(e["address"]) + _strings(e["storageKeys"]) for e in entries]
    return rlp.list_item("".join(map(rlp.list_item, items)))


def _strings(texts: Sequence[str]) -> str:
    return rlp.list_item("".join(map(rlp.string_item, texts)))


def _log(log: Any) -> str:
    topics, data_ = "".join(log.topics).replace("0x", "a0"), log.data
    before, between, after = _log_prefixes(len(topics), len(data_))
    if len(data_) == _BYTE_CHARACTERS:
        return rlp.list_item(f"94{log.address[2:]}{between}{topics}{rlp.string_item(data_)}")
    return f"{before}{log.address[2:]}{between}{topics}{after}{data_[2:]}"


@lru_cache(4_096)
def _log_prefixes(topic_digits: int, data_characters: int) -> tuple[str, str, str]:
    """Return what precedes a log's address, its topics and its data of more than a byte."""
    if data_characters % 2:
        raise ValueError("half a byte")
    between, after = rlp.list_prefix(topic_digits // 2), rlp.string_prefix(data_characters // 2 - 1)
    digits = len(between + after) + topic_digits + data_characters + 40  # an address, 94, less 0x
    return f"{rlp.list_prefix(digits // 2)}94", between, after


_ITEMS: dict[str, _Items] = {
    **dict.fromkeys(
        ("to", "feeCurrency"),
        lambda texts: ["80" if text is None else rlp.string_item(text) for text in texts],
    ),
    "accessList": partial(map, _access_list),
    "authorizationList": partial(
        map, lambda entries: rlp.list_item("".join(_AUTHORIZATION_ENCODER.encode(entries)))
    ),
    "blobVersionedHashes": partial(map, _strings),
    "logs": partial(map, lambda logs: rlp.list_item("".join(map(_log, logs))) if logs else "c0"),
    **dict.fromkeys(
        ("mint", "ethValue"),
        partial(map, lambda text: "80" if text is None else rlp.quantity_item(text)),
    ),
    "ethTxValue": partial(map, lambda text: "" if text is None else rlp.quantity_item(text)),
    "isSystemTx": partial(map, lambda value: "01" if value else "80"),
    **dict.fromkeys(("address", "input", "root", "logsBloom"), rlp.string_items),
    **dict.fromkeys(("sourceHash", "from"), rlp.string_items),
    **dict.fromkeys(("r", "s"), rlp.word_items),
}
_HEADER_ENCODERS = {
    sign: _Encoder(attrgetter(*fields), [*map(_header_items, fields)])
    for sign, fields in {"": ETHEREUM_HEADER, **_OTHER_HEADERS}.items()
}
_AUTHORIZATION_ENCODER: _Encoder = _encoder(itemgetter, AUTHORIZATION)
_WITHDRAWAL_ENCODER = _encoder(itemgetter, _WITHDRAWAL)
