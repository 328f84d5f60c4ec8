"""`scan export history`: ere files of what is indexed, with the parts of blocks from the node."""

import argparse
import hashlib
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from scan.commands.startup import require_node, settings_with_database
from scan.contracts.account_state import node_of_index
from scan.database.connection import Database
from scan.errors import ScanError
from scan.ethereum import block_encoding, node_errors
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.extensions.backfill import e2store, file_sources, raw_block
from scan.extensions.backfill.plan import BLOCKS_OF_FILE
from scan.extensions.block_records.uncles.block_completion import BlockCompleter
from scan.files import held_folder, whole_file
from scan.indexer.block_source import BlockSource
from scan.observability.logs import print_lines
from scan.settings import Settings

log = logging.getLogger(__name__)

NETWORKS = {1: "mainnet", 17_000: "holesky", 560_048: "hoodi", 11_155_111: "sepolia"}
PATIENCE_S = 600.0  # with a node that fails
FETCH_BLOCKS = 32
PROFILE = "noproofs"
STATEMENT_TIMEOUT_MS = 60_000


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Write the files of the eras from --from up to --to, or up to the blocks that are final, but
    for eras whose files are there."""
    require_node(settings)
    url = settings_with_database(settings).read_database_url
    node = node_of_index(settings, url)
    source = BlockSource(node, traces="off")
    uncles = BlockCompleter(node, source.chain_id)
    database = Database(url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-export")
    with closing(database):
        first, head = database.row("audit/blocks_get_ends") or (0, -1)
        last = head - settings.finality if options.block_to is None else options.block_to
        era = -(-max(first, options.block_from or 0) // BLOCKS_OF_FILE)
        if last < 0:
            raise ScanError(f"no block is final (SCAN_FINALITY={settings.finality}): give --to")
        if last > head or last < era * BLOCKS_OF_FILE:
            raise ScanError(f"blocks {era * BLOCKS_OF_FILE} to {last} are not indexed")
        network = NETWORKS.get(source.chain_id()) or f"chain{source.chain_id()}"
        with held_folder(options.output):
            for start in range(era * BLOCKS_OF_FILE, last + 1, BLOCKS_OF_FILE):
                end = min(start + BLOCKS_OF_FILE - 1, last)
                hash_ = database.value("indexer/blocks_get_hash", number=end)
                name = file_name(network, start, bytes(hash_))
                if not (options.output / name).exists():
                    write_file(source, uncles, options.output / name, start, end, bytes(hash_))
                    print_lines(f"{name}: blocks {start} to {end}")
    return 0


def file_name(network: str, first_block: int, last_hash: bytes) -> str:
    era = first_block // BLOCKS_OF_FILE
    return f"{network}-{era:05}-{last_hash[:4].hex()}-{PROFILE}.ere"


def write_file(
    source: BlockSource, uncles: BlockCompleter, path: Path, first: int, last: int, last_hash: bytes
) -> None:
    """Write a file and its digest, in place of an older one of its era. Raises ScanError, OSError,
    NodeError."""
    hash_ = None
    with closing(e2store.E2Writer(path.parent, first)) as writer:
        for number, (header, receipts) in enumerate(_blocks(source, first, last), start=first):
            try:
                block = decode_block(header, receipts, number, source.chain_id())
                parts = raw_block.parts_of(header, receipts, uncles.headers(block, header))
                raw = raw_block.read_block(parts, number)
                read = raw_block.decode(raw, source.chain_id()).block
            except (e2store.BadFile, block_encoding.Unencodable, ValueError) as error:
                raise ScanError(f"block {number} cannot be written: {error}") from None
            if any(
                signed.from_address != sent.from_address
                for signed, sent in zip(read.transactions, block.transactions, strict=True)
            ):
                raise ScanError(f"block {number} cannot be written: its senders have not signed")
            if hash_ not in (None, block.parent_hash) or raw.hash != block.hash:
                raise ScanError(f"block {number} is not the one after block {number - 1}")
            hash_ = raw.hash
            writer.add(parts)
        if hash_ != last_hash:
            raise ScanError(f"the node has another block {last} than the index")
        with whole_file(path) as file:
            writer.write(file)
    _list(path)


def _blocks(source: BlockSource, first: int, last: int) -> Iterator[tuple[Any, Any]]:
    """Yield blocks and their receipts as structs."""
    retries = node_errors.Retries(PATIENCE_S)
    for start in range(first, last + 1, FETCH_BLOCKS):
        end = min(start + FETCH_BLOCKS - 1, last)
        pairs = retries.run(lambda: [*source.raw_blocks(start, end, checked=True)])  # noqa: B023
        for number, (header, receipts) in enumerate(pairs, start=start):
            yield read_json(header, BlockJson, number), read_json(receipts, ReceiptsJson, number)


def _list(path: Path) -> None:
    """Put a file into checksums.txt, and delete an older file of its chain, era and format."""
    listed = path.parent / file_sources.CHECKSUMS
    lines = listed.read_text().splitlines() if listed.exists() else []
    written = e2store.parse_name(path.name)
    names = {line: e2store.parse_name(line.split()[-1]) for line in lines if line.strip()}
    older = [
        (line, name)
        for line, name in names.items()
        if name and written and name._replace(text="") == written._replace(text="")
        if Path(name.text).suffix == path.suffix
    ]
    for line, name in older:
        del names[line]
        if name.text != path.name:
            (path.parent / name.text).unlink(missing_ok=True)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept = [*names, f"{digest}  {path.name}"]
    text = "".join(f"{line}\n" for line in sorted(kept, key=lambda line: line.split()[-1]))
    with whole_file(listed) as file:
        file.write(text.encode())
