"""The blocks of history files in place of a node's: the files of all sources that begin a chain,
for one backfill, and their blocks, which its workers read.
"""

import argparse
import logging
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, count, takewhile
from pathlib import Path
from typing import NamedTuple

from scan.ethereum import block_validation, client
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.stored_blocks import slim_receipt, stored_body, transaction_item
from scan.extensions.backfill import file_sources, raw_block
from scan.extensions.backfill.e2store import BadFile, E2File
from scan.extensions.backfill.plan import BLOCKS_OF_FILE, CannotBackfill, Range, SpoolFailed
from scan.extensions.block_records.uncles.block_completion import completed, is_mined
from scan.hex import BadHex, data
from scan.indexer.block_rows import FetchedBlock
from scan.indexer.block_source import BlockSource, block_in_unit
from scan.indexer.node_reader import read_chain_id, read_hash
from scan.settings import Settings

log = logging.getLogger(__name__)


class RangeHistory(NamedTuple):
    """The files that have a range's blocks up to `last_block`: those of all sources, the
    one that is taken first before the others."""

    files: Sequence[file_sources.HistoryFile]
    last_block: int  # of the range that files have, which is compared with the node's
    downloads: str  # a folder
    ca_bundle: str

    def source(self, node: client.Node, blocks: BlockSource) -> "HistorySource":
        return HistorySource(self, node, blocks)


class HistorySource:
    """Reads blocks from files; from the node those after the last file."""

    def __init__(self, history: RangeHistory, node: client.Node, blocks: BlockSource) -> None:
        self._history = history
        self._node = node
        self._blocks = blocks
        self._store = file_sources.FileStore(Path(history.downloads), history.ca_bundle)
        self._open: tuple[file_sources.HistoryFile, E2File] | None = None
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
            # The node's first block after a file has to follow on it, as it may be the first that
            # the node has at all. Else the range's blocks are not linked, so that it is read again.
            if self._open is not None:
                (listed, file), block = self._open, fetched[0].block
                end = self._history.last_block
                if block.number == end + 1 and block.parent_hash != keccak256(file.header(end)):
                    self._refuse(listed, f"the node's block {end + 1} does not name block {end}")
            return fetched
        while True:
            listed, file = self._file_of(first)
            try:
                return self._read(file, first, min(last, self._history.last_block, file.last_block))
            except BadFile as error:
                self._refuse(listed, str(error))

    def _read(self, file: E2File, first: int, last: int) -> list[FetchedBlock]:
        if self._chain_id is None:
            self._chain_id = read_chain_id(self._node)
        parent = keccak256(file.header(first - 1)) if first > file.first_block else None
        fetched = []
        for number in range(first, last + 1):
            raw = raw_block.read_block(file.parts(number), number)
            if parent not in (None, raw.header["parentHash"]):
                raise BadFile(f"block {number} does not name the block before it as its parent")
            parent = raw.hash
            fetched.append(self._fetched(raw))
        if first == 0:  # which nodes keep
            self._require_of_node(0, fetched[0].block.hash)
        if last in (self._history.last_block, file.last_block):
            self._require_of_node(last, parent)
        return fetched

    def _fetched(self, raw: raw_block.RawBlock) -> FetchedBlock:
        assert self._chain_id is not None
        block, header, uncles = raw_block.decode(raw, self._chain_id)
        try:
            if not block.withdrawals and is_mined(header):
                block = completed(block, self._chain_id, len(uncles), uncles)
        except BadHex as error:
            raise BadFile(f"block {block.number}: {error}") from None
        if self._blocks.stores_bodies:
            sent = [*map(transaction_item, raw.transactions)]
            slim = [slim_receipt(receipt.encoded) for receipt in raw.receipts]
            block = block._replace(body=stored_body(sent, slim))
        # One that used all its gas may have failed.
        if not block.has_statuses and any(
            transaction.gas_used == int.from_bytes(transaction.gas_limit or b"")
            for transaction in block.transactions
        ):
            block = block._replace(unproven=block_validation.STATUSES)
        return self._blocks.untraced(block_in_unit(block, self._chain_id))

    def _require_of_node(self, number: int, hash_: bytes | None) -> None:
        """Raise BadFile where the node has another block. Nodes that drop blocks may keep their
        headers; what the node does not have, the blocks after it prove."""
        with suppress(client.NodeError, client.RpcError):
            node_hash = read_hash(self._node, number) or self._header_hash(number)
            if node_hash not in (None, hash_):
                raise BadFile(f"block {number} is not the one that the node has")

    def _header_hash(self, number: int) -> bytes | None:
        header = self._node.call("eth_getHeaderByNumber", hex(number))
        try:
            return data(header["hash"], 32)
        except (BadHex, KeyError, TypeError):
            return None

    def _file_of(self, number: int) -> tuple[file_sources.HistoryFile, E2File]:
        """Return the file of a block. Raises SpoolFailed, SourceFailed."""
        if self._open is not None and not self._store.refusal(self._open[0]):
            return self._open
        problems: list[str] = []
        failed: file_sources.SourceFailed | None = None
        for listed in self._history.files:
            try:
                return self._opened(listed, number)
            except file_sources.SourceFailed as error:
                failed = error
            except (BadFile, FileNotFoundError, PermissionError) as error:
                problems.append(f"{listed}: {error}")
                self._store.refuse(listed, str(error))
        raise failed or SpoolFailed("; ".join(problems) or f"no file has block {number}")

    def _opened(
        self, listed: file_sources.HistoryFile, number: int
    ) -> tuple[file_sources.HistoryFile, E2File]:
        self.close()
        file = E2File(self._store.fetch(listed))
        if file.first_block != listed.name.first_block or number > file.last_block:
            file.close()
            raise BadFile("it does not have the blocks that its name says")
        self._open = listed, file
        return self._open

    def _refuse(self, listed: file_sources.HistoryFile, reason: str) -> None:
        self._store.refuse(listed, reason)
        self.close()


DOWNLOADS = "history"  # the folder in SCAN_DATA_DIR
TRANSACTION_BYTES = 390  # compressed, measured with blocks of mainnet
NO_RECEIPTS = "noreceipts"


class ChainFiles:
    """The files of consecutive eras, and of each era those of all sources in their order."""

    def __init__(
        self,
        eras: Mapping[int, Sequence[file_sources.HistoryFile]],
        downloads: Path,
        ca_bundle: str,
        last_hash: bytes | None,
    ) -> None:
        """Raises BadFile, NodeError."""
        self.last_hash = last_hash
        self._eras = eras
        self._downloads = downloads
        self._ca_bundle = ca_bundle
        self._store = file_sources.FileStore(downloads, ca_bundle)
        self._refused: set[file_sources.HistoryFile] = set()
        self._unreleased = sorted(eras)
        self._sizes: dict[int, int] = {}
        self._store.forget_refusals()
        self.last_block = self._find_last()

    def _find_last(self) -> int:
        problems = []
        for file in self._eras[max(self._eras)]:
            try:
                with closing(E2File(self._store.fetch(file))) as opened:
                    return opened.last_block
            except (BadFile, OSError) as error:
                problems.append(f"{file}: {error}")
                self._store.refuse(file, str(error))
        raise BadFile("; ".join(problems))

    def range_history(self, blocks: Range) -> RangeHistory | None:
        if blocks.first > self.last_block:
            return None
        era = blocks.first // BLOCKS_OF_FILE
        files = self._not_refused(era) or self._eras[era]  # which say why they are refused
        last_block = min(blocks.last, self.last_block)
        return RangeHistory(files, last_block, str(self._downloads), self._ca_bundle)

    def source_of(self, number: int, blocks: BlockSource) -> tuple[HistorySource, int]:
        """Return a source of the blocks of a block's era, and the first of them. Raises BadFile."""
        era = _blocks_of(number // BLOCKS_OF_FILE)
        history = self.range_history(era)
        if history is None:
            raise BadFile(f"no file has block {number}")
        return history.source(blocks.node, blocks), era.first

    def transactions_of(self, number: int) -> float:
        """Return about how many transactions a block has, by the size of its file."""
        era = number // BLOCKS_OF_FILE
        if era not in self._sizes:
            self._sizes[era] = self._store.size(self._eras[era][0])
        blocks = min(BLOCKS_OF_FILE, self.last_block - _blocks_of(era).first + 1)
        return self._sizes[era] / TRANSACTION_BYTES / blocks

    def refuse(self, number: int, reason: str) -> Range:
        """Refuse the file that a block was taken from: the first that was not refused yet. Return
        its blocks. Raises SpoolFailed where it was the last one."""
        era = number // BLOCKS_OF_FILE
        file, *others = self._not_refused(era)
        self._store.refuse(file, reason)
        if not others:
            raise SpoolFailed(f"{file}: {reason}")
        self.newly_refused()
        return _blocks_of(era)

    def newly_refused(self) -> Sequence[Range]:
        before, self._refused = self._refused, set().union(*map(self._refused_of, self._eras))
        return [_blocks_of(era) for era in sorted({f.name.era for f in self._refused - before})]

    def _refused_of(self, era: int) -> set[file_sources.HistoryFile]:
        return {file for file in self._eras[era] if self._store.refusal(file) is not None}

    def _not_refused(self, era: int) -> Sequence[file_sources.HistoryFile]:
        refused = self._refused_of(era)
        return [file for file in self._eras[era] if file not in refused]

    def release(self, is_done: Callable[[int, int], bool]) -> None:
        """Delete downloaded files whose blocks are all written, in the chain's order."""
        while self._unreleased:
            era = self._unreleased[0]
            first, last = _blocks_of(era)
            is_written = is_done(first, min(last, self.last_block))
            if not is_written or self._refused_of(era) - self._refused:  # it is read again
                return
            for file in self._eras[era]:
                self._store.remove(file)
            self._unreleased.pop(0)

    def end(self) -> None:
        shutil.rmtree(self._downloads, ignore_errors=True)


def _blocks_of(era: int) -> Range:
    return Range(era * BLOCKS_OF_FILE, (era + 1) * BLOCKS_OF_FILE - 1)


def open_files(
    settings: Settings, options: argparse.Namespace, sources: Sequence[str]
) -> ChainFiles:
    """Return the files of sources. Raises NodeError where one does not answer, CannotBackfill where
    they cannot be used."""
    if options.cluster and any(map(file_sources.is_url, sources)):
        raise CannotBackfill("--cluster needs --history as a folder that all machines share")
    try:
        listed = (file_sources.list_files(source, settings.ca_bundle) for source in sources)
        eras = consecutive([*chain.from_iterable(listed)], settings.start_block or 0)
        last_hash = data(options.last_hash, 32) if options.last_hash else None
        downloads = settings.data_dir.absolute() / DOWNLOADS
        return ChainFiles(eras, downloads, settings.ca_bundle, last_hash)
    except BadHex as error:
        raise CannotBackfill(f"--last-hash: {error}") from None
    except BadFile as error:
        raise CannotBackfill(f"--history: {error}") from None
    except OSError as error:
        raise client.NodeError(f"--history: {error}") from None


def consecutive(
    files: Sequence[file_sources.HistoryFile], start_block: int
) -> dict[int, Sequence[file_sources.HistoryFile]]:
    """Return the files by era, from that of `start_block` up to the first era without one. Raises
    BadFile where there is none, or where files are of several networks."""
    usable = [file for file in files if NO_RECEIPTS not in file.name.profile]
    if files and not usable:
        raise BadFile(f"the files have no receipts (profile {NO_RECEIPTS}): use the whole ones")
    networks = {file.name.network for file in usable}
    if len(networks) > 1:
        raise BadFile(f"the files are of several networks: {', '.join(sorted(networks))}")
    by_era: dict[int, list[file_sources.HistoryFile]] = defaultdict(list)
    for file in usable:
        by_era[file.name.era].append(file)
    eras = [*takewhile(by_era.__contains__, count(start_block // BLOCKS_OF_FILE))]
    if not eras:
        raise BadFile(f"there is no era1 or ere file that has block {start_block}")
    return {era: by_era[era] for era in eras}
