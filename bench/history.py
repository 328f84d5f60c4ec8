"""The synthetic chain as ere files.

    python -m bench.history FOLDER BLOCKS

Files that are there are kept.
"""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from bench.chain import Chain, made_hashes
from bench.node import HASHES
from scan.ethereum.block_encoding import encode_header
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.rlp_and_tries import keccak256, list_root
from scan.extensions.backfill.e2store import E2Writer, Parts
from scan.extensions.backfill.history_export import file_name
from scan.extensions.backfill.plan import BLOCKS_OF_FILE
from scan.extensions.backfill.raw_block import parts_of, read_receipts
from scan.hex import to_hex

CHUNK = 50  # blocks that a process encodes at once


def made_files(folder: Path, blocks: int) -> tuple[bytes, bytes]:
    """Return the hashes of the first and of the last block of files of so many blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = folder / f"{blocks}.hashes"
    if not ends.exists():
        for path in folder.glob("*.ere"):
            path.unlink()
        made_hashes(HASHES, blocks)
        with ProcessPoolExecutor() as pool:
            starts = range(0, blocks, CHUNK)
            chunks = pool.map(partial(_encoded, blocks), starts)
            hashes = [*_write(folder, blocks, (block for chunk in chunks for block in chunk))]
        ends.write_bytes(hashes[0] + hashes[-1])
    content = ends.read_bytes()
    return content[:32], content[32:]


def _write(folder: Path, blocks: int, encoded: Iterator[Parts]) -> Iterator[bytes]:
    """Write linked blocks to files, and yield their hashes."""
    hash_ = bytes(32)
    for first in range(0, blocks, BLOCKS_OF_FILE):
        with closing(E2Writer(folder, first)) as writer:
            for _ in range(first, min(first + BLOCKS_OF_FILE, blocks)):
                parts = next(encoded)
                parts = parts._replace(header=_linked(parts.header, hash_))
                hash_ = keccak256(parts.header)
                writer.add(parts)
                yield hash_
            with (folder / file_name("bench", first, hash_)).open("wb") as file:
                writer.write(file)


def _linked(header: bytes, parent_hash: bytes) -> bytes:
    """Return an encoded header with its first field, which follows four bytes of lengths."""
    return header[:4] + parent_hash + header[36:]


def _encoded(blocks: int, first: int) -> list[Parts]:
    """Return blocks, but for the parents' hashes."""
    chain = Chain(made_hashes(HASHES, blocks))
    return [_block(chain, number) for number in range(first, min(first + CHUNK, blocks))]


def _block(chain: Chain, number: int) -> Parts:
    header = read_json(msgspec.Raw(chain.block(number)), BlockJson, number)
    receipts = read_json(msgspec.Raw(chain.receipts(number)), ReceiptsJson, number)
    parts = parts_of(header, receipts, ())
    header.receiptsRoot = to_hex(list_root([receipt.encoded for receipt in read_receipts(parts)]))
    header.source = None
    return parts._replace(header=encode_header(header))


def main(arguments: Sequence[str]) -> None:
    folder, blocks = arguments
    made_files(Path(folder), int(blocks))


if __name__ == "__main__":
    main(sys.argv[1:])
