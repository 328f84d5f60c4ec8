"""Files that are wrong: each kind as a function of a right file's entries, or of its bytes."""

import struct
from contextlib import suppress
from functools import reduce

import cramjam
import rlp
from eth_utils import keccak

from scan.ethereum.rlp_and_tries import list_root
from scan.extensions.backfill import e2store, raw_block

VERSION, HEADER, BODY, SLIM, INDEX = 0x3265, 3, 4, 10, 0x3267
BLOCK = 6  # with transactions of types 0 and 2, a withdrawal list, and logs


def index(first, count, entries=None):
    """Its offsets are wrong, as nobody reads them."""
    numbers = [first, *[0] * 3 * (count if entries is None else entries), 3, count]
    return INDEX, b"".join(struct.pack("<Q", number % 2**64) for number in numbers)


def framed(data):
    return bytes(cramjam.snappy.compress(data))


def joined(entries):
    return b"".join(struct.pack("<HIH", type_, len(data), 0) + data for type_, data in entries)


def file_of(blocks):
    kinds = zip((HEADER, BODY, SLIM), range(3), strict=True)
    entries = [(kind, framed(block[position])) for kind, position in kinds for block in blocks]
    return joined([(VERSION, b""), *entries, index(0, len(blocks))])


def entries_of(file):
    entries, start = [], 0
    while start < len(file):
        type_, size, _ = struct.unpack_from("<HIH", file, start)
        entries.append((type_, file[start + 8 : start + 8 + size]))
        start += 8 + size
    return entries


def of_bytes(change):
    return lambda blocks: change(file_of(blocks))


def of_entries(change):
    return of_bytes(lambda file: joined(change(entries_of(file))))


def position_of(entries, kind, number=BLOCK):
    return [position for position, (type_, _) in enumerate(entries) if type_ == kind][number]


def of_part(kind, change):
    """Change a compressed part of a block."""

    def changed(entries):
        position = position_of(entries, kind)
        entries[position] = kind, change(entries[position][1])
        return entries

    return of_entries(changed)


def of_content(kind, change):
    return of_part(kind, lambda data: framed(change(bytes(cramjam.snappy.decompress(data)))))


def of_list(kind, change):
    """Change a part that is decoded as RLP in place."""

    def changed(content):
        items = rlp.decode(content)
        replaced = change(items)
        return rlp.encode(items if replaced is None else replaced)

    return of_content(kind, changed)


def of_proven(kind, change):
    """Change transactions or receipts, and the root and the hashes of all headers with them: such
    a file agrees with itself."""

    def made(all_parts):
        made_parts = []
        for number, parts in enumerate(all_parts):
            header, body, receipts = (rlp.decode(part) for part in parts[:3])
            if number == BLOCK:
                change({"transactions": body[0], "receipts": receipts, "header": header}[kind])
                leaves = [rlp.encode(item) if isinstance(item, list) else item for item in body[0]]
                header[4] = list_root(leaves)
            if number > BLOCK:
                header[0] = keccak(made_parts[-1].header)
            parts = e2store.Parts(rlp.encode(header), rlp.encode(body), rlp.encode(receipts), True)
            if kind == "receipts" and number == BLOCK:
                parts = with_its_receipts_root(parts)
            made_parts.append(parts)
        return file_of(made_parts)

    return made


def with_its_receipts_root(parts):
    header = rlp.decode(parts.header)
    with suppress(ValueError, TypeError):
        header[5] = list_root([receipt.encoded for receipt in raw_block.read_receipts(parts)])
    return parts._replace(header=rlp.encode(header))


def set_item(*path):
    """Set what a path of positions leads to, to the path's last value."""

    def change(items):
        *positions, last, value = path
        for position in positions:
            items = items[position]
        items[last] = value

    return change


def typed(change, type_=None):
    """Change the list of the block's first transaction of type 2."""

    def changed(transactions):
        position = next(p for p, item in enumerate(transactions) if isinstance(item, bytes))
        items = rlp.decode(transactions[position][1:])
        change(items)
        first = transactions[position][:1] if type_ is None else bytes([type_])
        transactions[position] = first + rlp.encode(items)

    return changed


def first_log(receipts):
    return next(logs[0] for _, _, _, logs in receipts if logs)


def in_log(*path):
    """Set what a path of positions in the first log leads to."""
    return lambda receipts: set_item(*path)(first_log(receipts))


def swapped(entries):
    for kind in (HEADER, BODY, SLIM):
        one, other = position_of(entries, kind, 3), position_of(entries, kind, 4)
        entries[one], entries[other] = entries[other], entries[one]
    return entries


def bomb(chunk, count):
    return b"\xff\x06\x00\x00sNaPpY" + chunk * count


ZEROS = framed(bytes(65_536))[10:]  # one chunk
HUGE_CHUNK = b"\x00" + (20).to_bytes(3, "little") + bytes(4) + b"\xff\xff\xff\xff\x0f" + bytes(11)
NESTED = reduce(lambda inner, _: [inner], range(100), [])

FAULTS = {
    "empty": of_bytes(lambda _: b""),
    "cut in the middle": of_bytes(lambda file: file[: len(file) // 2]),
    "with a byte more": of_bytes(lambda file: file + b"\0"),
    "of another version": of_entries(lambda entries: [(0x3266, b""), *entries[1:]]),
    "reserved bytes": of_bytes(lambda file: file[:14] + b"\1" + file[15:]),
    "a length beyond the file": of_bytes(lambda file: file[:10] + b"\xff\xff\xff\xff" + file[14:]),
    "many entries": of_entries(lambda entries: [entries[0], *[(99, b"")] * 60_000, *entries[1:]]),
    "two indexes": of_entries(lambda entries: [*entries, entries[-1]]),
    "a short index": of_entries(lambda entries: [*entries[:-1], (INDEX, bytes(15))]),
    "a huge count": of_entries(lambda entries: [*entries[:-1], index(0, 2**64 - 1, 1)]),
    "no receipts": of_entries(lambda entries: [e for e in entries if e[0] != SLIM]),
    "two blocks swapped": of_entries(swapped),
    "a part without snappy": of_part(BODY, lambda data: bytes(cramjam.snappy.decompress(data))),
    "a part with another checksum": of_part(BODY, lambda data: data[:14] + bytes(4) + data[18:]),
    "a bomb in a chunk": of_part(BODY, lambda _: bomb(HUGE_CHUNK, 1)),
    "a bomb of chunks": of_part(BODY, lambda _: bomb(ZEROS, 3_000)),
    "a header that is a string": of_content(HEADER, lambda data: rlp.encode(data)),
    "a header of nested lists": of_list(HEADER, set_item(3, NESTED)),
    "a header of another state": of_list(HEADER, set_item(3, bytes(32))),
    "a header with another parent": of_list(HEADER, set_item(0, bytes(32))),
    "a header with a byte more": of_content(HEADER, lambda data: data + b"\0"),
    "a body with a length beyond it": of_content(BODY, lambda data: b"\xfb\xff\xff\xff\xff" + data),
    "a body without withdrawals": of_list(BODY, lambda items: items[:2]),
    "a body with a withdrawal": of_list(BODY, set_item(2, [[b"", b"", bytes(20), b"1"]])),
    "a receipt with another status": of_list(SLIM, set_item(0, 1, b"")),
    "a receipt that is a string": of_list(SLIM, set_item(0, b"12345")),
    "a proven type that nobody knows": of_proven("transactions", typed(lambda items: None, 0x44)),
    "a proven signature of nobody": of_proven("transactions", typed(set_item(-2, b"\xff" * 32))),
    "a proven field too many": of_proven("transactions", typed(lambda items: items.append(b""))),
    "a proven value beyond 256 bits": of_proven("transactions", typed(set_item(6, b"\1" * 40))),
    "a proven list as a nonce": of_proven("transactions", typed(set_item(1, [b"1"]))),
    "a proven receipt of another type": of_proven("receipts", set_item(0, 0, b"\1")),
    "proven gas that falls": of_proven("receipts", set_item(-1, 2, b"\1")),
    "a proven log with five topics": of_proven(
        "receipts", lambda items: first_log(items)[1].extend([bytes(32)] * 5)
    ),
    "a proven topic of 31 bytes": of_proven("receipts", in_log(1, 0, bytes(31))),
    "a proven time beyond calendars": of_proven("header", set_item(11, b"\xff" * 8)),
}
