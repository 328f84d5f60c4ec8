"""Whole blocks in the form in which the index keeps them. Pure.

A stored block is a list of transactions, as blocks have it, and one of slim receipts: without the
bloom, which follows from the logs, and with the type inside. These are the bytes that the block's
roots prove. What no root proves, or has a type of a chain's own, is JSON in place of its item.
"""

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

import msgspec
import zstandard

from scan.cached_values import json_decoder
from scan.errors import Unavailable
from scan.ethereum import block_encoding, blocks, encoded_parts
from scan.ethereum import rlp_and_tries as rlp
from scan.ethereum.forms.form import Encoding
from scan.ethereum.forms.matching import RECEIPT_TAILS
from scan.hex import data, quantity, quantity_or_none, to_hex

MOST_BYTES = 256 * 1024 * 1024  # of a stored block, decompressed
ITEM_BYTES = 290  # of memory, of a transaction and its receipt besides their bytes, measured
LEVEL = 3  # of zstandard: bench/README.md has what others take
DIGEST_BYTES = 16
_digest = partial(hashlib.blake2b, digest_size=DIGEST_BYTES)
_FORM = b"\1"  # of what follows this byte
_JSON = b'{"'  # how an item of JSON begins, and no encoding
_ADDRESS_BYTES, _HASH_BYTES = 20, 32
_HASH_ITEM, _HASH_PREFIX = 33, 0xA0
# What follows from the block and the place in it, the bloom, and blobs, which test nodes keep.
_LEFT_OUT = frozenset("blockHash transactionHash transactionIndex logsBloom blobs".split())
_NO_FIELDS: Mapping[str, Any] = {}
_MALFORMED = (ValueError, LookupError, TypeError, msgspec.DecodeError, zstandard.ZstdError)
_OBJECT = json_decoder(dict[str, Any])
_compressors = threading.local()  # one is not for several threads at once


class TransactionLog(NamedTuple):
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes
    log_index: int


class Receipt(NamedTuple):
    """A receipt. `status` is None before Byzantium; `logs` and their count are None if they are
    too many or were not needed. `fields`: what else a stored one has, as a node's JSON does. Unless
    it `is_proven` by its block's receiptsRoot, the node reports it."""

    status: int | None
    cumulative_gas_used: int
    log_count: int | None
    logs: tuple[TransactionLog, ...] | None
    fields: Mapping[str, Any] = _NO_FIELDS
    is_proven: bool = True


class StoredTransaction(NamedTuple):
    """A transaction of a stored block. `fields` are those of a node's JSON that its hash covers,
    but for the input, with its type: neither the hash, the sender nor what follows from its place
    is among them, unless its type is of a chain's own."""

    nonce: int
    gas_limit: int
    input: bytes
    receipt: Receipt
    fields: Mapping[str, Any]


class DamagedBody(Unavailable):
    """The stored bytes of a block are not those that were written."""

    def __init__(self, number: int, reason: object) -> None:
        super().__init__(f"The stored transactions of block {number} are damaged: {reason}"[:200])


def transaction_item(encoded: bytes) -> bytes:
    """Return an encoded transaction as an item of a block's list."""
    return encoded if encoded[0] >= rlp.LISTS else rlp.string_prefix_bytes(len(encoded)) + encoded


def slim_receipt(encoded: bytes) -> bytes:
    """Return a receipt as encode_receipts() makes it without its bloom, and with its type inside.
    Raises ValueError for another form."""
    start = int(encoded[0] < rlp.LISTS)  # a type precedes the list
    type_item = encoded[:1] if start else rlp.EMPTY_STRING
    start += encoded[start] - rlp.LISTS - rlp.LONG + 1  # the list is long, as the bloom is
    gas = start + (_HASH_ITEM if encoded[start] == _HASH_PREFIX else 1)
    prefix = encoded[gas]
    cut = gas + (1 if prefix < rlp.STRINGS else prefix - rlp.STRINGS + 1)
    after = cut + len(encoded_parts.BLOOM_PREFIX) + encoded_parts.BLOOM_BYTES
    if encoded[cut : cut + len(encoded_parts.BLOOM_PREFIX)] != encoded_parts.BLOOM_PREFIX:
        raise ValueError("a receipt has another form")
    return rlp.join_list((type_item, encoded[start:cut], encoded[after:]))


def stored_body(sent: Sequence[bytes], received: Sequence[bytes]) -> blocks.StoredBody | None:
    """Return a block's row, given the items of both lists; None for a block without transactions,
    or beyond MOST_BYTES."""
    content = b"".join((_FORM, rlp.join_list(sent), rlp.join_list(received)))
    if not sent or len(content) > MOST_BYTES:
        return None
    if not hasattr(_compressors, "zstandard"):
        _compressors.zstandard = zstandard.ZstdCompressor(LEVEL)
    return blocks.StoredBody(_digest(content).digest(), _compressors.zstandard.compress(content))


def body_of(
    transactions: Sequence[Any],
    receipts: Sequence[Any],
    sent: Sequence[bytes | None],
    received: Sequence[bytes],
    encodings: Mapping[int, Encoding],
) -> blocks.StoredBody | None:
    """Return the row of a block, given as structs, as stored_body() does. `sent` and `received` are
    the proven encodings of its first transactions and receipts, None where one has none. Of a type
    of the chain's own, which `encodings` have, fields are stored that its encoding has."""
    items = []
    for record, encoded in zip_longest(transactions, sent):
        number = block_encoding.type_number(record.type)
        if encoded and number in block_encoding.TRANSACTION_FIELDS:
            items.append(transaction_item(encoded))
        else:
            encoding = encodings.get(number) if encoded else None
            items.append(_json_item(record, encoding and encoding.transaction))
    slim = [*map(slim_receipt, received), *map(_json_item, receipts[len(received) :])]
    return stored_body(items, slim)


def _json_item(record: Any, names: Sequence[str] | None = None) -> bytes:
    """Return the item of a transaction or receipt, given as a struct: its fields, but for those
    that follow from its place, or those of `names` and what each transaction has."""
    fields = msgspec.structs.asdict(record)
    if names is not None:
        fields = {name: fields[name] for name in ("hash", "type", "from", "input", *names)}
    if "logs" in fields:
        fields["logs"] = [msgspec.structs.asdict(log) for log in fields["logs"]]
    written = {k: v for k, v in fields.items() if v is not None and k not in _LEFT_OUT}
    return transaction_item(msgspec.json.encode(written))


class StoredBlock:
    """A block as it is stored, of which a transaction is decoded when it is read. `bytes` is its
    size in memory."""

    def __init__(self, number: int, stored: blocks.StoredBody) -> None:
        """Raises DamagedBody, as all reading of it does."""
        self.number = number
        with self._reading():
            size = zstandard.frame_content_size(stored.body)
            if not 0 < size <= MOST_BYTES:
                raise ValueError("they are too large")
            content: bytes = zstandard.ZstdDecompressor().decompress(stored.body, size)
            if _digest(content).digest() != stored.digest:
                raise ValueError("they have another digest")
            self._content, self.bytes = content, len(content)
            if content[:1] != _FORM:
                raise ValueError("their form is unknown to this version of Scan")
            sent, received = rlp.items_of(content, 1, len(content))
            self._sent = rlp.items_of(content, *sent[1:])
            self._received = rlp.items_of(content, *received[1:])
            if len(self._sent) != len(self._received):
                raise ValueError("a receipt is missing")
        self.bytes += ITEM_BYTES * len(self._sent)
        self._first_logs = [0]  # of the first transactions

    def __len__(self) -> int:
        """Return how many transactions it has."""
        return len(self._sent)

    def transaction(self, index: int, *, with_logs: bool = True) -> StoredTransaction:
        receipt = self.receipt(index, with_logs=with_logs)
        with self._reading():
            encoded = self._item(index)
            if encoded[: len(_JSON)] == _JSON:
                fields = _OBJECT.decode(encoded)
                input_ = data(fields.pop("input", "0x"))
                nonce, gas_limit = (quantity(fields.get(n) or "0x0") for n in ("nonce", "gas"))
                return StoredTransaction(nonce, gas_limit, input_, receipt, fields)
            type_, values = encoded_parts.read_transaction(encoded)
            input_ = values.pop("input")
            nonce, gas_limit = (int.from_bytes(values[name]) for name in ("nonce", "gas"))
            fields = {"type": hex(type_)} | {name: _json(name, v) for name, v in values.items()}
            if type_:
                fields["v"] = fields["yParity"]
            return StoredTransaction(nonce, gas_limit, input_, receipt, fields)

    def encoded(self, index: int) -> bytes | None:
        """Return a transaction as consensus encodes it; None for one that is stored as JSON."""
        encoded = self._item(index)
        return None if encoded[: len(_JSON)] == _JSON else encoded

    def _item(self, index: int) -> bytes:
        start, content, end = self._sent[index]
        return self._content[start if self._content[start] >= rlp.LISTS else content : end]

    def receipt(self, index: int, *, with_logs: bool = True) -> Receipt:
        """Return a receipt, perhaps without logs, whose indexes take counting those before them."""
        with self._reading():
            start, content, end = self._received[index]
            if self._content[start] < rlp.LISTS:
                return self._json_receipt(content, end)
            type_item, outcome, gas, logs, *tail = rlp.items_of(self._content, content, end)
            type_ = int.from_bytes(self._content[type_item[1] : type_item[2]])
            logs = logs if with_logs else (logs[0], logs[1], logs[1])
            raw = encoded_parts.raw_receipt(type_, self._content, outcome, gas, logs)
            first_log = self._first_log(index) if raw.logs else 0
            names = RECEIPT_TAILS[type_].receipt_tail if type_ in RECEIPT_TAILS else ()
            fields = {"type": hex(type_)} | {
                name: hex(int.from_bytes(self._content[at:stop]))
                for name, (_, at, stop) in zip(names, tail, strict=False)
            }
            has_root = len(raw.outcome) == _HASH_BYTES
            if has_root:
                fields["root"] = to_hex(raw.outcome)
            read = tuple([TransactionLog(*log, i) for i, log in enumerate(raw.logs, first_log)])
            counted, read_logs = (len(read), read) if with_logs else (None, None)
            status = None if has_root else int.from_bytes(raw.outcome)
            gas_used = int.from_bytes(raw.cumulative_gas_used)
            return Receipt(status, gas_used, counted, read_logs, fields)

    def receipts_with(self, values: Sequence[bytes]) -> Iterator[tuple[int, Receipt]]:
        """Yield the indexes of transactions with their receipts, of those that may have logs with
        all values, which are addresses or topics."""
        find = self._content.find
        for index, (start, _, end) in enumerate(self._received):
            is_json = self._content[start] < rlp.LISTS
            if is_json or all(find(value, start, end) >= 0 for value in values):
                yield index, self.receipt(index)

    def _first_log(self, index: int) -> int:
        """Return the index of a transaction's first log."""
        firsts = self._first_logs
        if index >= len(firsts):  # another thread may count the same
            following = self._received[len(firsts) - 1 : max(index, 2 * len(firsts))]
            counts = map(self._log_count, following)
            self._first_logs = firsts = [*firsts[:-1], *accumulate(counts, initial=firsts[-1])]
        return firsts[index]

    def _log_count(self, item: rlp.Item) -> int:
        start, content, end = item
        if self._content[start] < rlp.LISTS:
            return len(_OBJECT.decode(self._content[content:end])["logs"])
        logs = rlp.items_of(self._content, content, end)[3]
        return rlp.count_items(self._content, *logs[1:])

    def _json_receipt(self, start: int, end: int) -> Receipt:
        fields = _OBJECT.decode(self._content[start:end])
        logs = tuple(
            TransactionLog(
                data(log["address"], _ADDRESS_BYTES),
                tuple(data(topic, _HASH_BYTES) for topic in log["topics"]),
                data(log["data"]),
                quantity(log["logIndex"]),
            )
            for log in fields.pop("logs")
        )
        status, gas = quantity_or_none(fields.get("status")), quantity(fields["cumulativeGasUsed"])
        return Receipt(status, gas, len(logs), logs, fields, is_proven=False)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except _MALFORMED as error:
            raise DamagedBody(self.number, error) from error


def _json(name: str, value: Any) -> Any:
    """Return a field as a node's JSON has it."""
    if name == "accessList":
        return [{"address": to_hex(a), "storageKeys": [*map(to_hex, k)]} for a, k in value]
    if name == "authorizationList":
        return [encoded_parts.entry_object(block_encoding.AUTHORIZATION, entry) for entry in value]
    if name == "blobVersionedHashes":
        return [*map(to_hex, value)]
    if name == "to":
        return to_hex(value) if value else None
    return hex(int.from_bytes(value))
