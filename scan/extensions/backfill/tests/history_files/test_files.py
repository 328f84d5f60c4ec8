"""Files that another program has written and reads, and files that are wrong in any way."""

import json
import struct
import subprocess
import tracemalloc
from contextlib import closing
from functools import reduce

import cramjam
import pytest
import rlp

from scan.ethereum import client, rlp_and_tries
from scan.extensions.backfill import e2store, file_sources, history_source, raw_block
from scan.extensions.backfill.plan import SpoolFailed
from scan.extensions.backfill.tests.history_files import signed_chain
from scan.indexer.block_rows import FetchedBlock
from tests.support import WAIT_S, solidity

pytestmark = pytest.mark.thorough

BLOCKS = 50
VERSION, HEADER, BODY, SLIM, INDEX = 0x3265, 3, 4, 10, 0x3267
BLOCK = 6  # with transactions of types 0 and 2, a withdrawal list, and logs


@pytest.fixture(scope="module")
def all_parts(signed):
    pairs = signed_chain.structs(signed.url, 0, BLOCKS - 1)
    return [raw_block.parts_of(header, receipts, ()) for header, receipts in pairs]


def run_ethereumjs(*arguments):
    command = ["node", "era1.mjs", *arguments]
    done = subprocess.run(
        command, cwd=solidity.NODE, capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_era1_file_of_ethereumjs_is_read(all_parts, tmp_path):
    def with_blooms(number):
        """A block's parts with receipts as era1 has them."""
        raw = raw_block.read_block(all_parts[number], number)
        leaves = [receipt.encoded for receipt in raw.receipts]
        prefixes = [rlp_and_tries.string_prefix_bytes(len(leaf)) for leaf in leaves]
        items = [e if e[0] >= 0xC0 else p + e for p, e in zip(prefixes, leaves, strict=True)]
        receipts = rlp_and_tries.join_list(items)
        return all_parts[number]._replace(receipts=receipts, are_slim=False)

    expected = [*map(with_blooms, range(BLOCKS))]
    # EthereumJS writes wrong offsets into its index, which is why Scan walks the entries.
    texts = [
        [rlp_and_tries.keccak256(p.header).hex(), p.header.hex(), p.body.hex(), p.receipts.hex()]
        for p in expected
    ]
    (tmp_path / "parts.json").write_text(json.dumps(texts))
    path = tmp_path / "test-00000-00000000.era1"
    run_ethereumjs("write", str(tmp_path / "parts.json"), str(path))
    with closing(e2store.E2File(path)) as file:
        assert (file.first_block, file.last_block) == (0, BLOCKS - 1)
        assert [file.parts(number) for number in range(BLOCKS)] == expected
    for number, pair in enumerate(zip(expected, all_parts, strict=True)):
        full, slim = (raw_block.read_block(parts, number) for parts in pair)
        assert full == slim


def test_an_ere_file_of_scan_is_read_by_scan_and_ethereumjs(all_parts, tmp_path):
    path = tmp_path / "test-00000-00000000-noproofs.ere"
    with closing(e2store.E2Writer(tmp_path, 0)) as writer, path.open("wb") as output:
        for parts in all_parts:
            writer.add(parts)
        writer.write(output)
    with closing(e2store.E2File(path)) as file:
        assert [file.parts(number) for number in range(BLOCKS)] == all_parts
    for kind in range(3):
        contents = json.loads(run_ethereumjs("read", str(path), str((HEADER, BODY, SLIM)[kind])))
        assert [*map(bytes.fromhex, contents)] == [parts[kind] for parts in all_parts]


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


def set_item(*path):
    """Set what a path of positions leads to, to the path's last value."""

    def change(items):
        *positions, last, value = path
        for position in positions:
            items = items[position]
        items[last] = value

    return change


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
}


def test_the_right_file_of_the_faults_is_read(all_parts, tmp_path):
    assert read_all(file_of(all_parts), tmp_path) == BLOCKS


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_is_wrong_is_refused_in_bounded_memory(all_parts, tmp_path, fault):
    content = FAULTS[fault](all_parts)
    tracemalloc.start()
    try:
        with pytest.raises(SpoolFailed, match=r"test-00000-00000000\.ere of "):
            read_all(content, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * e2store.MAX_PART_BYTES


class OwnChain:
    """What the node behind a source says of its chain: it has pruned all blocks."""

    stores_bodies = True

    def call(self, _):
        return hex(signed_chain.CHAIN_ID)

    def batch(self, _):
        raise client.NodeError("pruned")

    def untraced(self, block):
        return FetchedBlock(block, ())


def read_all(content, folder):
    """How many blocks a file has; its blocks are read as a worker reads them."""
    (folder / "test-00000-00000000.ere").write_bytes(content)
    history = history_source.RangeHistory(
        file_sources.list_files(str(folder)), BLOCKS - 1, str(folder / "downloads"), ""
    )
    number = 0
    chain = OwnChain()
    with closing(history.source(chain, chain)) as source:
        while number < BLOCKS:
            number += len(source.blocks(number, number + 4))
    return number
