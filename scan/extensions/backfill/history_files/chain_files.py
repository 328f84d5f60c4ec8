"""The files of a chain's first blocks, of all sources together, for one backfill."""

import argparse
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from scan.ethereum.client import NodeError
from scan.extensions.backfill.history_files.e2store import BadFile, E2File
from scan.extensions.backfill.history_files.file_sources import (
    FileStore,
    HistoryFile,
    is_url,
    list_files,
)
from scan.extensions.backfill.history_files.history_source import RangeHistory
from scan.extensions.backfill.plan import CannotBackfill
from scan.extensions.backfill.range_files import BLOCKS_OF_FILE, Range
from scan.extensions.backfill.spool import SpoolFailed
from scan.hex import BadHex, data
from scan.settings import Settings

DOWNLOADS = "history"  # the folder in SCAN_DATA_DIR
TRANSACTION_BYTES = 390  # compressed, measured with blocks of mainnet
NO_RECEIPTS = "noreceipts"


class ChainFiles:
    """The files of consecutive eras, and of each era those of all sources in their order."""

    def __init__(
        self, eras: Mapping[int, Sequence[HistoryFile]], downloads: Path, ca_bundle: str
    ) -> None:
        self.last_hash: bytes | None = None
        self.keeps = False
        self._eras = eras
        self._downloads = downloads
        self._ca_bundle = ca_bundle
        self._store = FileStore(downloads, ca_bundle)
        self._refused: set[HistoryFile] = set()
        self._unreleased = sorted(eras)
        self._sizes: dict[int, int] = {}
        self.last_block = -1

    def begin(self) -> None:
        """Find out which block is the last. Raises BadFile, NodeError."""
        self._store.forget_refusals()
        last = max(self._eras)
        problems = []
        for file in self._eras[last]:
            try:
                with closing(E2File(self._store.fetch(file))) as opened:
                    self.last_block = opened.last_block
                    return
            except (BadFile, OSError) as error:
                problems.append(f"{file}: {error}")
                self._store.refuse(file, str(error))
        raise BadFile("; ".join(problems))

    def of_range(self, blocks: Range) -> RangeHistory | None:
        if blocks.first > self.last_block:
            return None
        era = blocks.first // BLOCKS_OF_FILE
        files = self._not_refused(era) or self._eras[era]  # which say why they are refused
        last_block = min(blocks.last, self.last_block)
        return RangeHistory(files, last_block, str(self._downloads), self._ca_bundle)

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

    def _refused_of(self, era: int) -> set[HistoryFile]:
        return {file for file in self._eras[era] if self._store.refusal(file) is not None}

    def _not_refused(self, era: int) -> Sequence[HistoryFile]:
        refused = self._refused_of(era)
        return [file for file in self._eras[era] if file not in refused]

    def release(self, is_done: Callable[[int, int], bool]) -> None:
        """Delete downloaded files whose blocks are all written, in the chain's order."""
        while self._unreleased and not self.keeps:
            era = self._unreleased[0]
            first, last = _blocks_of(era)
            is_written = is_done(first, min(last, self.last_block))
            if not is_written or self._refused_of(era) - self._refused:  # it is read again
                return
            for file in self._eras[era]:
                self._store.remove(file)
            self._unreleased.pop(0)

    def end(self) -> None:
        if not self.keeps:
            shutil.rmtree(self._downloads, ignore_errors=True)


def _blocks_of(era: int) -> Range:
    return Range(era * BLOCKS_OF_FILE, (era + 1) * BLOCKS_OF_FILE - 1)


def open_files(
    settings: Settings, options: argparse.Namespace, sources: Sequence[str]
) -> ChainFiles:
    """Return the files of sources. Raises NodeError where one does not answer, CannotBackfill where
    they cannot be used."""
    if options.cluster and any(map(is_url, sources)):
        raise CannotBackfill("--cluster needs --history as a folder that all machines share")
    try:
        listed = [file for source in sources for file in list_files(source, settings.ca_bundle)]
        eras = consecutive(listed, settings.start_block or 0)
        files = ChainFiles(eras, settings.data_dir.absolute() / DOWNLOADS, settings.ca_bundle)
        files.last_hash = data(options.last_hash, 32) if options.last_hash else None
        files.keeps = options.keep_history
        files.begin()
    except BadHex as error:
        raise CannotBackfill(f"--last-hash: {error}") from None
    except BadFile as error:
        raise CannotBackfill(f"--history: {error}") from None
    except OSError as error:
        raise NodeError(f"--history: {error}") from None
    return files


def consecutive(files: Sequence[HistoryFile], start_block: int) -> dict[int, Sequence[HistoryFile]]:
    """Return the files by era, from that of `start_block` up to the first era without one. Raises
    BadFile where there is none, or where files are of several networks."""
    with_receipts = [file for file in files if NO_RECEIPTS not in file.name.profile]
    if files and not with_receipts:
        raise BadFile(f"the files have no receipts (profile {NO_RECEIPTS}): use the whole ones")
    networks = {file.name.network for file in with_receipts}
    if len(networks) > 1:
        raise BadFile(f"the files are of several networks: {', '.join(sorted(networks))}")
    by_era: dict[int, list[HistoryFile]] = defaultdict(list)
    for file in with_receipts:
        by_era[file.name.era].append(file)
    eras: dict[int, Sequence[HistoryFile]] = {}
    era = start_block // BLOCKS_OF_FILE
    while era in by_era:
        eras[era] = by_era[era]
        era += 1
    if not eras:
        raise BadFile(f"there is no era1 or ere file that has block {start_block}")
    return eras
