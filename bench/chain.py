"""A synthetic chain: any height, always the same, as bytes a node would send.

Blocks are drawn once (shape.py) and written out as templates. A height has its own parties, nonces
and hashes, which are put into their places in the bytes. Hashes and roots are true, so they are
computed once, with signatures, and kept in a file of 97 bytes a transaction, which takes 25 us of
processor each:

    python -m bench.chain FILE BLOCKS
"""

import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy
import orjson

from bench import marks
from bench.parties import TEMPLATES, Bytes, Parties, nonces
from bench.shape import NONCES, TRANSACTIONS, WITHDRAWALS, draw_shape
from bench.signers import sign
from scan.cached_values import cached_property
from scan.ethereum.block_encoding import encode_receipts, encode_transactions, encode_withdrawals
from scan.ethereum.block_hashing import header_hash
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.rlp_and_tries import content_range, keccak256, list_prefix_bytes, list_root

GENESIS_TIME_S = 1_600_000_000
FIRST_WITHDRAWAL = 0x1000000  # of four bytes
ROOTS = 4  # 32 bytes each before those of transactions: block, and three roots
HASHES = ROOTS + TRANSACTIONS
ROWS = HASHES + 2 * TRANSACTIONS  # of 32 bytes each: the last are both halves of signatures
RECORD = 32 * ROWS
CHUNK = 250  # blocks that a process hashes at once
SOURCES = (
    "marks",
    "call_frames",
    "shape",
    "signers",
    "parties",
    "chain",
)  # of which the hashes depend
NUMBER_MARK = ord("~")
SIGNATURE_BYTES = 1 + 33 + 33  # of the encoded parity, or v, and both halves
MAINNET_END = b"\1\x80\x80"  # EIP-155


class Places(NamedTuple):
    """Where in a text what stands for parties, hashes, nonces and the number is."""

    parties: tuple[Any, Any]  # offsets, and numbers of parties
    hashes: tuple[Any, Any]
    nonces: tuple[Any, Any]
    numbers: Any
    text: Bytes


class Template:
    """One drawn block: its texts, and its encodings for hashing."""

    def __init__(self, seed: int) -> None:
        self.shape = draw_shape(seed)
        self.parties = Parties(self.shape.parties)
        self._transactions = [orjson.dumps(t) for t in self.shape.transactions]
        self._receipts = [orjson.dumps(r) for r in self.shape.receipts]
        self.transaction_ends = _lengths(self._transactions)
        self._encodings = [self._encoded(True), self._encoded(False)]
        self.encoding_ends = [_lengths(encoded) for encoded in self._encodings]

    def _encoded(self, of_transactions: bool) -> list[bytes]:
        text = b",".join(self._transactions if of_transactions else self._receipts)
        text = text.replace(b"%(number)s", b"0x1")
        if of_transactions:
            block = read_json(msgspec.Raw(b'{"transactions":[%s]}' % text), BlockJson, 0)
            return encode_transactions(block.transactions)
        return encode_receipts(read_json(msgspec.Raw(b"[%s]" % text), ReceiptsJson, 0))

    @cached_property
    def encodings(self) -> list[Places]:
        """What roots are of: all transactions, all receipts, each joined."""
        return [
            _places(b"".join(encoded), 1, self.encoding_ends[part] if part == 0 else None)
            for part, encoded in enumerate(self._encodings)
        ]

    @cached_property
    def messages(self) -> list[tuple[bytes, int, int, bytes, int]]:
        """What each transaction's sender signs: bytes before a part of the joined encodings, the
        positions of that part, and bytes after it; and the party that signs."""
        messages = []
        for sent, (start, end) in zip(
            self.shape.transactions, pairwise(self.encoding_ends[0]), strict=True
        ):
            is_typed = sent["type"] != "0x0"
            content, _ = content_range(self._encodings[0][len(messages)], int(is_typed))
            last = end - SIGNATURE_BYTES
            after = b"" if is_typed else MAINNET_END
            prefix = list_prefix_bytes(last - start - content + len(after))
            before = bytes([int(sent["type"], 16)]) + prefix if is_typed else prefix
            sender = int(sent["from"][2 + len(marks.ADDRESS_MARK) :], 16)
            messages.append((before, start + content, last, after, sender))
        return messages

    def text(self, kind: str, digits: int) -> Places:
        """A part of a node's answers, for numbers of that many digits."""
        shape_ = self.shape
        if kind == "transactions":
            text = b",".join(self._transactions)
        elif kind == "receipts":
            text = b",".join(self._receipts)
        elif kind == "logs":
            text = b",".join(orjson.dumps(log) for r in shape_.receipts for log in r["logs"])
        else:
            text = orjson.dumps(
                [
                    {"result": frame, "txHash": marks.hash_mark(marks.FIRST_TRANSACTION + n)}
                    for n, frame in enumerate(shape_.frames)
                ]
            )
        return _places(text.replace(b"%(number)s", b"0x" + bytes([NUMBER_MARK]) * digits), 2)


def _places(text: bytes, width: int, ends: Sequence[int] | None = None) -> Places:
    """`width`: characters of a byte. Nonces of encodings stand near the beginning of each."""
    parties = _marks(text, marks.ADDRESS_MARK, 20, width)
    hashes = _marks(text, marks.HASH_MARK, 32, width)
    places = []
    for index in range(TRANSACTIONS):
        nonce = (NONCES + index).to_bytes(3)
        if width == 2 and b'"nonce":"0x' in text:
            places.append(text.index(b'"nonce":"0x%s"' % nonce.hex().encode()) + 11)
        elif ends:
            places.append(text.index(b"\x83" + nonce, ends[index], ends[index] + 12) + 1)
    array = numpy.frombuffer(text, numpy.uint8)
    starts: Any = numpy.flatnonzero((array[1:] == NUMBER_MARK) & (array[:-1] != NUMBER_MARK)) + 1
    starts = starts if width == 2 else starts[:0]
    order = numpy.arange(len(places))
    return Places(parties, hashes, (numpy.array(places, int), order), starts, array)


def _marks(text: bytes, prefix: str, size: int, width: int) -> tuple[Any, Any]:
    mark = prefix.encode() if width == 2 else bytes.fromhex(prefix)
    offsets, numbers, at = [], [], text.find(mark)
    while at >= 0:
        rest = text[at + len(mark) : at + size * width]
        numbers.append(int(rest, 16) if width == 2 else int.from_bytes(rest))
        offsets.append(at)
        at = text.find(mark, at + size * width)
    return numpy.array(offsets, int), numpy.array(numbers, int)


def _filled(places: Places, *values: tuple[tuple[Any, Any], Bytes]) -> Bytes:
    """A copy of the text with values, rows of bytes, in their places."""
    filled = places.text.copy()
    for (offsets, numbers), rows in values:
        if len(offsets):
            size = rows.shape[1]
            cell = numpy.dtype(f"V{size}")
            cells: Any = numpy.ndarray(len(filled) - size + 1, cell, filled, strides=(1,))
            cells[offsets] = rows.view(cell)[:, 0][numbers]
    return filled


def _hex(rows: Bytes) -> Bytes:
    digits: Bytes = numpy.frombuffer(rows.tobytes().hex().encode(), numpy.uint8)
    reshaped: Bytes = digits.reshape(len(rows), -1)
    return reshaped


class Chain:
    """Serialised blocks, receipts and traces by height."""

    def __init__(self, hashes: Bytes) -> None:
        """`hashes`: a record a block, as made_hashes() has them."""
        self.hashes = hashes
        self._addresses = lru_cache(64)(_hex_addresses)

    @staticmethod
    def of(blocks: int) -> "Chain":
        """The first blocks, without a file."""
        return Chain(_linked(blocks, map(_hashed, range(blocks))))

    def block(self, number: int) -> bytes:
        """eth_getBlockByNumber with whole transactions."""
        return self._block(number, self._text("transactions", number))

    def header(self, number: int) -> bytes:
        """eth_getBlockByNumber with hashes alone."""
        digests = [digest.tobytes().hex() for digest in self.hashes[number, ROOTS:HASHES]]
        return self._block(number, b",".join(b'"0x%s"' % digest.encode() for digest in digests))

    def receipts(self, number: int) -> bytes:
        """eth_getBlockReceipts."""
        return b"[%s]" % self._text("receipts", number)

    def logs(self, number: int) -> bytes:
        """eth_getLogs of one block, without its brackets."""
        return self._text("logs", number)

    def traces(self, number: int) -> bytes:
        """debug_traceBlockByHash with callTracer."""
        return self._text("traces", number)

    def _block(self, number: int, transactions: bytes) -> bytes:
        hashes = [record.tobytes() for record in self.hashes[number, :ROOTS]]
        head, tail = _header(number, hashes, self._parent(number))
        return head[:-1] + b',"transactions":[%s]' % transactions + b',"withdrawals":%s}' % tail

    def _parent(self, number: int) -> bytes:
        return self.hashes[number - 1, 0].tobytes() if number else bytes(32)

    def _text(self, kind: str, number: int) -> bytes:
        digits = b"%x" % number
        places = _text_of(number % TEMPLATES, kind, len(digits))
        record = self.hashes[number]
        of_text = _hex(numpy.concatenate([record[:1], record[ROOTS:]]))
        number_row = numpy.frombuffer(digits, numpy.uint8)[None, :]
        filled = _filled(
            places,
            (places.parties, self._addresses(number)),
            (places.hashes, of_text),
            (places.nonces, _hex(nonces(number))),
            ((places.numbers, numpy.zeros(len(places.numbers), int)), number_row),
        )
        return filled.tobytes()


def _hex_addresses(number: int) -> Bytes:
    return _hex(_template(number).parties.addresses(number))


def _lengths(texts: Sequence[bytes]) -> list[int]:
    """Where texts begin and end when they are joined."""
    return [0, *accumulate(map(len, texts))]


@cache
def _template_of(seed: int) -> Template:
    return Template(seed)


@cache
def _text_of(seed: int, kind: str, digits: int) -> Places:
    return _template_of(seed).text(kind, digits)


def _template(number: int) -> Template:
    return _template_of(number % TEMPLATES)


def _header(number: int, hashes: Sequence[bytes], parent: bytes) -> tuple[bytes, bytes]:
    """The header as a JSON object, and the withdrawals as an array."""
    block_hash, transactions, receipts, withdrawals = ("0x" + h.hex() for h in hashes)
    fields = {
        **_template(number).shape.header,
        "number": hex(number),
        "hash": block_hash,
        "parentHash": "0x" + parent.hex(),
        "timestamp": hex(GENESIS_TIME_S + 12 * number),
        "transactionsRoot": transactions,
        "receiptsRoot": receipts,
        "withdrawalsRoot": withdrawals,
    }
    return orjson.dumps(fields), orjson.dumps(_withdrawals(number))


def _withdrawals(number: int) -> list[dict[str, str]]:
    first = FIRST_WITHDRAWAL + WITHDRAWALS * number
    shape_ = _template(number).shape
    return [w | {"index": hex(first + n)} for n, w in enumerate(shape_.withdrawals)]


def _hashed(number: int) -> Bytes:
    """The record of a block but for its own hash, which needs its parent's."""
    template = _template(number)
    addresses, block_nonces = template.parties.addresses(number), nonces(number)
    roots: list[bytes] = []
    digests: list[bytes] = []
    signatures: list[bytes] = []
    for part, places in enumerate(template.encodings):
        values = ((places.parties, addresses), (places.nonces, block_nonces))
        filled = _filled(places, *values)
        if part == 0:
            signatures = _signatures(template, filled.tobytes(), addresses)
            halves = numpy.frombuffer(b"".join(signatures), numpy.uint8).reshape(-1, 32)
            unused = numpy.zeros((1 + TRANSACTIONS, 32), numpy.uint8)
            signed = places._replace(text=filled)
            filled = _filled(signed, (places.hashes, numpy.concatenate([unused, halves])))
        text = filled.tobytes()
        ends = template.encoding_ends[part]
        encoded = [text[a:b] for a, b in pairwise(ends)]
        roots.append(list_root(encoded))
        digests = digests or [keccak256(value) for value in encoded]
    lists = (*roots, list_root(encode_withdrawals(_withdrawals(number))))
    record = b"".join((bytes(32), *lists, *digests, *signatures))
    rows: Bytes = numpy.frombuffer(record, numpy.uint8).reshape(-1, 32)
    return rows


def _signatures(template: Template, text: bytes, addresses: Bytes) -> list[bytes]:
    """The first halves of all transactions' signatures, and then the second ones."""
    halves = [
        sign(before + text[start:end] + after, addresses[sender].tobytes())
        for before, start, end, after, sender in template.messages
    ]
    return [half for side in zip(*halves, strict=True) for half in side]


def _linked(blocks: int, records: Iterator[Bytes], first: int = 0, parent: bytes = b"") -> Bytes:
    linked: Bytes = numpy.empty((blocks, ROWS, 32), numpy.uint8)
    parent = parent or bytes(32)
    for index, record in enumerate(records):
        hashes = [row.tobytes() for row in record[:ROOTS]]
        text, _ = _header(first + index, hashes, parent)
        header = read_json(msgspec.Raw(text[:-1] + b',"transactions":[]}'), BlockJson, first)
        parent = header_hash(header)
        linked[index] = record
        linked[index, 0] = numpy.frombuffer(parent, numpy.uint8)
    return linked


def _hashed_chunk(first: int) -> Bytes:
    records: Bytes = numpy.stack([_hashed(number) for number in range(first, first + CHUNK)])
    return records


def made_hashes(path: Path, blocks: int) -> Bytes:
    """The hashes of a chain of so many blocks, from a file, which is made or grown as needed."""
    folder = Path(__file__).parent
    sources = b"".join((folder / f"{name}.py").read_bytes() for name in SOURCES)
    path = path.with_suffix(f".{TRANSACTIONS}.{hashlib.sha256(sources).hexdigest()[:12]}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # of two nodes that start at once one makes it
        done = file.tell() // (RECORD * CHUNK) * CHUNK
        file.truncate(done * RECORD)
        starts = range(done, blocks, CHUNK)
        if starts:
            parent = _hashes_in(path, done)[-1, 0].tobytes() if done else b""
            with ProcessPoolExecutor() as pool:
                for first, chunk in zip(starts, pool.map(_hashed_chunk, starts), strict=True):
                    linked = _linked(CHUNK, iter(chunk), first, parent)
                    parent = linked[-1, 0].tobytes()
                    file.write(linked.tobytes())
    return _hashes_in(path, blocks)


def _hashes_in(path: Path, blocks: int) -> Bytes:
    return numpy.memmap(path, numpy.uint8, "r", shape=(blocks, ROWS, 32))
