"""A block's hash and roots, and which parts of a block no root covers. Pure.

Records are the structs of scan/ethereum/blocks.py. Header fields that this version of Scan does not
know, as a hard fork appends them, are in a node's JSON by name, in any order: that the block's hash
is the one of a header with some of them proves which, and their order. Forms that it does not know
are proven by parts of blocks as consensus encodes them, of a node with the debug namespace, and by
the schedule of blobs (EIP-7910).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import permutations
from typing import Any

import msgspec

from scan.cached_values import json_decoder
from scan.ethereum import block_encoding, blocks, client, rlp_and_tries
from scan.ethereum.forms import matching
from scan.ethereum.forms.form import Encoding, Form, no_amounts
from scan.hex import BadHex, data

ETHEREUM = Form("Ethereum")
# Fields that follow from the place of a receipt or log. EthereumJS numbers logs otherwise, and
# anvil names receipts of deposits that it sends in another's name by a hash of its own.
OUT_OF_PLACE = TRANSACTION_HASH, LOG_INDEX = "transactionHash of receipts", "logIndex of logs"


def header_hash(header: Any) -> bytes:
    """Return the hash of a header as Ethereum encodes it."""
    return rlp_and_tries.keccak256(block_encoding.encode_header(header))


def has_its_hash(header: Any) -> bool:
    """Return whether a block's hash is its header's hash in an encoding of some chain."""
    return encoded_header(header) is not None


def encoded_header(header: Any, values: Sequence[str] = ()) -> bytes | None:
    """Return the encoding of some chain, with values of unknown fields appended, by which a header
    has its block's hash; None where none has it."""
    with suppress(ValueError, TypeError):
        hash_ = data(header.hash, 32)
        encodings = block_encoding.encode_header_of_chains(header)
        if values:
            added = [bytes.fromhex(_item(value)) for value in values]
            encodings = (rlp_and_tries.join_list([*items, *added]) for items in _items(header))
        return next((e for e in encodings if rlp_and_tries.keccak256(e) == hash_), None)
    return None


def uncles_hash(uncles: Sequence[Any]) -> bytes:
    """Return the hash of a block's uncles, given as headers, that sha3Uncles has to be."""
    items = "".join([block_encoding.encode_header(uncle).hex() for uncle in uncles])
    return rlp_and_tries.keccak256(bytes.fromhex(rlp_and_tries.list_item(items)))


NO_UNCLES = uncles_hash(())


def form_of_roots(header: Any, receipts: Sequence[Any], chain_id: int | None) -> Form:
    """Return the form by which the block's roots are computed: Ethereum's, unless a transaction has
    a type of the chain's own."""
    types = {*map(block_encoding.type_number, {sent.type for sent in header.transactions})}
    if types <= block_encoding.TRANSACTION_FIELDS.keys():
        return ETHEREUM
    if chain_id in matching.FORM_OF_CHAIN:
        return matching.FORM_OF_CHAIN[chain_id] or ETHEREUM
    return matching.match_of_records(header, receipts, chain_id).form or ETHEREUM


def has_unknown_type(header: Any) -> bool:
    """Return whether a transaction has a type of no chain that this version of Scan knows."""
    of_chains = {hex(n) for form in matching.FORMS for n in (*form.encodings, *form.type_names)}
    return not {sent.type for sent in header.transactions} <= matching.ETHEREUM_TYPES | of_chains


def uncompared(
    header: Any, receipts: Sequence[Any], chain_id: int | None, *, has_state_sync: bool
) -> list[str]:
    """Return the parts of a block that no root covers, in words: a state sync, a form that is known
    by its fields alone, and fees for L1 that receipts lack."""
    words = ["a state sync"] if has_state_sync else []
    is_plain = type(header) is blocks.BlockJson.plain
    are_plain = is_plain and blocks.ReceiptJson.of_forms not in map(type, receipts)
    form, is_proven = matching.match_of_records(header, receipts, chain_id, are_plain=are_plain)
    if not is_proven and not words:
        words.append(f"fields of {form.name if form else 'a chain of its own form'}")
    chain_form = matching.FORM_OF_CHAIN.get(chain_id)
    if chain_form and not form and chain_form.l1_fees is not no_amounts and receipts:
        words.append(f"no transaction shows {chain_form.name}")
    if form and form.l1_fees is not no_amounts:
        sent = {"type": [transaction.type for transaction in header.transactions]}
        is_free = form.is_free(sent) if form.is_free else [False] * len(receipts)
        paying = (receipt for receipt, free in zip(receipts, is_free, strict=True) if not free)
        fees = [getattr(receipt, "l1Fee", None) for receipt in paying]
        # Its transactions have one, as the chain's id or another receipt says.
        if None in fees and (chain_form is not None or fees.count(None) < len(fees)):
            words.append("receipts without a fee for L1")
    return words


def covered_by_roots(
    header: Any, receipts: Sequence[Any], chain_id: int | None
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the transactions and receipts that roots cover: all but the state sync of a chain of
    bor. On other chains a state sync stays covered, since there it has logs that nobody emitted."""
    if receipts and matching.has_uncovered_end(header) and int(receipts[-1].gasUsed, 16) == 0:
        form = matching.FORM_OF_CHAIN.get(chain_id)
        if chain_id not in matching.FORM_OF_CHAIN or (form and form.has_uncovered_end):
            return header.transactions[:-1], receipts[:-1]
    return header.transactions, receipts


def receipt_leaf(receipt: Any) -> bytes:
    """Return a receipt as consensus encodes it, in the form of whatever chain has its type."""
    number = block_encoding.type_number(receipt.type)
    is_of_ethereum = number in block_encoding.TRANSACTION_FIELDS
    own = {number: matching.RECEIPT_TAILS.get(number, Encoding(()))}
    [leaf] = block_encoding.encode_receipts([receipt], {} if is_of_ethereum else own)
    return leaf


def has_its_withdrawals(header: Any, form: Form) -> bool:
    """Return whether the block's withdrawals agree with its withdrawalsRoot."""
    root = header.withdrawalsRoot
    if form.withdraws_to_l1:
        return not header.withdrawals and (root is None or header.withdrawals is not None)
    if root is None:  # a proven header has none where there are no withdrawals
        return not header.withdrawals
    leaves = block_encoding.encode_withdrawals(header.withdrawals)  # EIP-4895
    return rlp_and_tries.list_root(leaves) == data(root)


def fields_out_of_place(transactions: Sequence[Any], receipts: Sequence[Any]) -> str:
    """Return which of OUT_OF_PLACE is not what the place in the block says; "" if none."""
    if [sent.hash for sent in transactions] != [receipt.transactionHash for receipt in receipts]:
        return TRANSACTION_HASH
    logs = [log.logIndex for receipt in receipts for log in receipt.logs]
    return "" if [int(index, 16) for index in logs] == [*range(len(logs))] else LOG_INDEX


def put_in_place(header: Any, receipts: Sequence[Any], chain_id: int | None) -> bool:
    """Give receipts and their logs the hashes and numbers of their place; return whether the roots
    cover all of them. To be called where the roots prove the order: where check_body() finds
    one of OUT_OF_PLACE."""
    transactions, covered = covered_by_roots(header, receipts, chain_id)
    if len(covered) < len(receipts):
        return False
    for sent, receipt in zip(transactions, receipts, strict=True):
        receipt.transactionHash = sent.hash
    for index, entry in enumerate(log for receipt in receipts for log in receipt.logs):
        entry.logIndex = hex(index)
    return True


MOST_TRANSACTIONS = 100_000
_HEADER, _TRANSACTIONS = 0, 1  # items of a block


class RawBlocks:
    """Reads bytes from a node, if there is one, and remembers which methods it does not offer."""

    def __init__(self, node: client.Node | None = None) -> None:
        self._node = node
        self._missing: set[str] = set()

    def read(self, method: str, *parameters: str) -> Any:
        """Return the method's result, None where the node has none, or fails: the block is checked
        without it, and a block that is refused is read again."""
        if self._node is None or method in self._missing:
            return None
        # As much as a block of 58 M gas has, all of it input or data of logs.
        try:
            return self._node.call(method, *parameters, most_bytes=4 * client.MAX_ANSWER_BYTES)
        except client.RpcError as error:
            if error.is_missing_method:
                self._missing.add(method)
            return None
        except client.NodeError:
            return None


class RawBlock:
    """The bytes of a block's parts, each read when it is first needed. Answers that are no DATA are
    None: they prove nothing."""

    def __init__(self, node: RawBlocks, number: int) -> None:
        self._node = node
        self._number = hex(number)
        self._items: list[bytes] | None = None

    def header(self) -> bytes | None:
        return self._encoded("debug_getRawHeader", self._number) or self._item(_HEADER)

    def transaction(self, index: int, hash_: str) -> bytes | None:
        encoded = self._encoded("debug_getRawTransaction", hash_)
        if encoded is None and (items := self._item(_TRANSACTIONS)) is not None:
            listed = rlp_and_tries.split_list(items, MOST_TRANSACTIONS)
            encoded = rlp_and_tries.item_content(listed[index]) if index < len(listed) else None
        return encoded

    def receipts(self) -> list[bytes] | None:
        results = self._node.read("debug_getRawReceipts", self._number)
        try:
            return [data(result) for result in results] if isinstance(results, list) else None
        except BadHex:
            return None

    def blob_fraction(self, timestamp_s: int) -> int | None:
        """Return the update fraction of the price of blobs at this time, as the node has it."""
        forks = self._node.read("eth_config")
        with suppress(KeyError, TypeError, ValueError):
            begun = [
                (int(fork["activationTime"]), int(fork["blobSchedule"]["baseFeeUpdateFraction"]))
                for fork in (forks["current"], forks["next"], forks["last"])
                if fork is not None and int(fork["activationTime"]) <= timestamp_s
            ]
            return max(begun)[1]
        return None

    def _item(self, position: int) -> bytes | None:
        if self._items is None:
            encoded = self._encoded("debug_getRawBlock", self._number)
            self._items = rlp_and_tries.split_list(encoded, 16) if encoded else []
        return self._items[position] if position < len(self._items) else None

    def _encoded(self, method: str, parameter: str) -> bytes | None:
        result = self._node.read(method, parameter)
        try:
            return None if result is None else data(result)
        except BadHex:
            return None


MOST_ADDED = 3  # fields, by all forks that this version does not know
MOST_NAMES = 8  # of a header; their arrangements are 400
MOST_HEADER_ITEMS = 64
_WORD_CHARACTERS, _MOST_CHARACTERS = 66, 1_024
_OBJECT, _ANY = json_decoder(dict[str, msgspec.Raw]), json_decoder(Any)


@cache
def _known_fields() -> frozenset[str]:
    return frozenset((*blocks.BlockJson.of_forms.__struct_fields__, "totalDifficulty"))


def unknown_fields(header: Any) -> dict[str, str]:
    """Return the fields of a block's JSON that no struct has, and that a header could have."""
    fields = header.source
    known_names = _known_fields()
    if isinstance(fields, msgspec.Raw):
        raw = _OBJECT.decode(fields)
        fields = {
            name: _ANY.decode(value)
            for name, value in raw.items()
            if name not in known_names and bytes(memoryview(value)[:3]) == b'"0x'
        }
    names = [
        name
        for name, value in fields.items()
        if name not in known_names
        and isinstance(value, str)
        and value[:2] == "0x"
        and len(value) <= _MOST_CHARACTERS
    ]
    return {name: fields[name] for name in names[:MOST_NAMES]}


def find_order(header: Any, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the unknown fields that the block's hash covers, in its order; () where no order of at
    most MOST_ADDED of them gives the hash."""
    for count in range(1, MOST_ADDED + 1):
        for order in permutations(fields, count):
            if encoded_header(header, [fields[name] for name in order]) is not None:
                return order
    return ()


def encoded_with_unknown_fields(header: Any) -> bytes | None:
    """Return the encoded header with the unknown fields that its block's hash covers; None where
    the hash covers no order of them."""
    fields = unknown_fields(header)
    order = find_order(header, fields)
    return encoded_header(header, [fields[name] for name in order]) if order else None


def agrees_with_bytes(header: Any, encoded: bytes) -> bool:
    """Return whether all known fields are items of the encoded header, in their order."""
    actual = rlp_and_tries.split_list(encoded, MOST_HEADER_ITEMS)
    with suppress(ValueError, TypeError):
        return any(are_within(items, actual) for items in _items(header))
    return False


def are_within(items: Sequence[bytes], others: Sequence[bytes]) -> bool:
    """Return whether others has all of the items in their order, and maybe more."""
    rest = iter(others)
    return all(item in rest for item in items)


def _items(header: Any) -> Iterator[list[bytes]]:
    for encoded in block_encoding.encode_header_of_chains(header):
        yield rlp_and_tries.split_list(encoded, MOST_HEADER_ITEMS)


def _item(value: str) -> str:
    """Return a field's item. DATA may begin with zeros; in a QUANTITY they would be left out."""
    is_data = len(value) >= _WORD_CHARACTERS or (value[:3] == "0x0" and len(value) > 3)
    return rlp_and_tries.string_item(value) if is_data else rlp_and_tries.quantity_item(value)
