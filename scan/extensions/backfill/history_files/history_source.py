"""Blocks of files in place of a node's: the work of a backfill's worker."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from scan.ethereum.block_validation import STATUSES
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.client import Node, NodeError, RpcError
from scan.ethereum.keccak import keccak256
from scan.extensions.backfill.history_files.e2store import BadFile, E2File
from scan.extensions.backfill.history_files.file_sources import FileStore, HistoryFile, SourceFailed
from scan.extensions.backfill.history_files.raw_block import RawBlock, read_block
from scan.extensions.backfill.history_files.raw_decoder import decode
from scan.extensions.backfill.spool import SpoolFailed
from scan.extensions.block_records.uncles.block_completion import completed, is_mined
from scan.hex import BadHex, data
from scan.indexer.block_source import BlockSource, with_unit
from scan.indexer.fetched_block import FetchedBlock

log = logging.getLogger(__name__)


class RangeHistory(NamedTuple):
    """The files that have a range's blocks up to `last_block`: those of all sources, the
    one that is taken first before the others."""

    files: Sequence[HistoryFile]
    last_block: int  # of the range that files have, which is compared with the node's
    downloads: str  # a folder
    ca_bundle: str

    def source(self, node: Node, blocks: BlockSource) -> "HistorySource":
        return HistorySource(self, node, blocks)

    def on_another_machine(self, folder: Path) -> "RangeHistory":
        """Return the same files for a machine that has its own folder for downloads."""
        return self._replace(downloads=str(folder))


def _may_have_failed(transaction: DecodedTransaction) -> bool:
    return transaction.gas_used == int.from_bytes(transaction.gas_limit or b"")


class HistorySource:
    """Reads blocks from files; from the node those after the last file."""

    def __init__(self, history: RangeHistory, node: Node, blocks: BlockSource) -> None:
        self._history = history
        self._node = node
        self._blocks = blocks
        self._store = FileStore(Path(history.downloads), history.ca_bundle)
        self._open: tuple[HistoryFile, E2File] | None = None
        self._chain_id: int | None = None

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return the blocks from `first` up to `last`, or fewer, at least one. Raises SpoolFailed
        where no source has a file that is right, and what BlockSource.blocks() raises."""
        if first > self._history.last_block:
            fetched = self._blocks.blocks(first, last)
            self._require_followed(fetched[0].block)
            return fetched
        while True:
            listed, file = self._file_of(first)
            try:
                return self._read(file, first, min(last, self._history.last_block, file.last_block))
            except BadFile as error:
                self._refuse(listed, str(error))

    def _require_followed(self, block: DecodedBlock) -> None:
        """Refuse the file if the node's first block after it does not follow on it, as it may be
        the first that the node has at all. The range's blocks are not linked then, so that it is
        read again."""
        if self._open is not None:
            listed, file = self._open
            last = self._history.last_block
            if block.number == last + 1 and block.parent_hash != keccak256(file.header(last)):
                self._refuse(listed, f"the node's block {last + 1} does not name block {last}")

    def _read(self, file: E2File, first: int, last: int) -> list[FetchedBlock]:
        if self._chain_id is None:
            self._chain_id = self._blocks.chain_id()
        parent = keccak256(file.header(first - 1)) if first > file.first_block else None
        fetched = []
        for number in range(first, last + 1):
            raw = read_block(file.parts(number), number)
            if parent not in (None, raw.header["parentHash"]):
                raise BadFile(f"block {number} does not name the block before it as its parent")
            parent = raw.hash
            fetched.append(self._fetched(raw))
        if first == 0:  # which nodes keep
            self._require_of_node(0, fetched[0].block.hash)
        if last in (self._history.last_block, file.last_block):
            self._require_of_node(last, parent)
        return fetched

    def _fetched(self, raw: RawBlock) -> FetchedBlock:
        assert self._chain_id is not None
        block, header, uncles = decode(raw, self._chain_id)
        try:
            if not block.withdrawals and is_mined(header):
                block = completed(block, self._chain_id, len(uncles), uncles)
        except BadHex as error:
            raise BadFile(f"block {block.number}: {error}") from None
        if not block.has_statuses and any(map(_may_have_failed, block.transactions)):
            block = block._replace(unproven=STATUSES)
        return self._blocks.untraced(with_unit(block, self._chain_id))

    def _require_of_node(self, number: int, hash_: bytes | None) -> None:
        """Raise BadFile where the node has another block. Nodes that drop blocks may keep their
        headers; what the node does not have, the blocks after it prove."""
        with suppress(NodeError, RpcError):
            own = self._blocks.hash_at(number) or self._header_hash(number)
            if own not in (None, hash_):
                raise BadFile(f"block {number} is not the one that the node has")

    def _header_hash(self, number: int) -> bytes | None:
        header = self._node.call("eth_getHeaderByNumber", hex(number))
        try:
            return data(header["hash"], 32)
        except (BadHex, KeyError, TypeError):
            return None

    def _file_of(self, number: int) -> tuple[HistoryFile, E2File]:
        """Return the file of a block. Raises SpoolFailed, SourceFailed."""
        if self._open is not None and not self._store.refusal(self._open[0]):
            return self._open
        problems: list[str] = []
        failed: SourceFailed | None = None
        for listed in self._history.files:
            try:
                return self._opened(listed, number)
            except SourceFailed as error:
                failed = error
            except (BadFile, FileNotFoundError, PermissionError) as error:
                problems.append(f"{listed}: {error}")
                self._store.refuse(listed, str(error))
        raise failed or SpoolFailed("; ".join(problems) or f"no file has block {number}")

    def _opened(self, listed: HistoryFile, number: int) -> tuple[HistoryFile, E2File]:
        self.close()
        file = E2File(self._store.fetch(listed))
        if file.first_block != listed.name.first_block or number > file.last_block:
            file.close()
            raise BadFile("it does not have the blocks that its name says")
        self._open = listed, file
        return self._open

    def _refuse(self, listed: HistoryFile, reason: str) -> None:
        self._store.refuse(listed, reason)
        self.close()
