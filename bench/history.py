"""The synthetic chain as ere files, signed: senders are others, as addresses follow from keys.

    python -m bench.history FOLDER BLOCKS

Each sender of the synthetic chain has one key, so that as many addresses send as often. Files that
are there are kept. Signing takes 60 us of processor a transaction.
"""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec
from coincurve import PrivateKey

from bench.chain import Chain, made_hashes
from bench.node import HASHES
from scan.ethereum.block_encoding import encode_header, encode_transactions
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.keccak import keccak256
from scan.ethereum.merkle_trie import list_root
from scan.ethereum.rlp import EMPTY_STRING, LISTS, join_list
from scan.extensions.bulk.range_files import BLOCKS_OF_FILE
from scan.extensions.history_files.block_parts import parts_of
from scan.extensions.history_files.e2store import E2Writer, Parts
from scan.extensions.history_files.history_export import file_name
from scan.extensions.history_files.raw_block import encoded_receipts
from scan.extensions.history_files.rlp_reader import items_of, list_content
from scan.hex import to_hex

CHUNK = 50  # blocks that a process signs at once


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
            chunks = pool.map(partial(_signed, blocks), starts)
            hashes = [*_write(folder, blocks, (block for chunk in chunks for block in chunk))]
        ends.write_bytes(hashes[0] + hashes[-1])
    content = ends.read_bytes()
    return content[:32], content[32:]


def _write(folder: Path, blocks: int, signed: Iterator[tuple[Any, Parts]]) -> Iterator[bytes]:
    """Write linked blocks to files, and yield their hashes."""
    hash_ = bytes(32)
    for first in range(0, blocks, BLOCKS_OF_FILE):
        with closing(E2Writer(folder, first)) as writer:
            for _ in range(first, min(first + BLOCKS_OF_FILE, blocks)):
                header, parts = next(signed)
                header.parentHash = to_hex(hash_)
                parts = parts._replace(header=encode_header(header))
                hash_ = keccak256(parts.header)
                writer.add(parts)
                yield hash_
            with (folder / file_name("bench", first, hash_)).open("wb") as file:
                writer.write(file)


def _signed(blocks: int, first: int) -> list[tuple[Any, Parts]]:
    """Return blocks, as headers and parts, but for the parents' hashes."""
    chain = Chain(made_hashes(HASHES, blocks))
    return [_block(chain, number) for number in range(first, min(first + CHUNK, blocks))]


def _block(chain: Chain, number: int) -> tuple[Any, Parts]:
    header = read_json(msgspec.Raw(chain.block(number)), BlockJson, number)
    receipts = read_json(msgspec.Raw(chain.receipts(number)), ReceiptsJson, number)
    for transaction, encoded in zip(
        header.transactions, encode_transactions(header.transactions), strict=True
    ):
        _sign(transaction, encoded)
    header.transactionsRoot = to_hex(list_root(encode_transactions(header.transactions)))
    parts = parts_of(header, receipts, ())
    header.receiptsRoot = to_hex(list_root(encoded_receipts(parts)))
    header.source = None
    return header, parts


def _sign(transaction: Any, encoded: bytes) -> None:
    typed = encoded[0] < LISTS
    content = encoded[1:] if typed else encoded
    items = items_of(content, *list_content(content))
    unsigned = content[items[0][0] : items[-3][0]]
    if typed:
        message = encoded[:1] + join_list([unsigned])
    else:
        message = join_list([unsigned, b"\1", EMPTY_STRING, EMPTY_STRING])
    key = _key(getattr(transaction, "from"))
    signature = key.sign_recoverable(keccak256(message), hasher=None)
    transaction.r, transaction.s = (
        hex(int.from_bytes(signature[start : start + 32])) for start in (0, 32)
    )
    transaction.yParity = hex(signature[64])
    transaction.v = hex(signature[64]) if typed else hex(37 + signature[64])


@lru_cache(100_000)
def _key(address: str) -> PrivateKey:
    return PrivateKey(keccak256(address.encode()))


def main(arguments: Sequence[str]) -> None:
    folder, blocks = arguments
    made_files(Path(folder), int(blocks))


if __name__ == "__main__":
    main(sys.argv[1:])
