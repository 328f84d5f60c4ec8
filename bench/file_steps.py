"""A worker's steps with a file, in microseconds of processor a transaction."""

import tempfile
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path

from scan.ethereum.rlp import LISTS
from scan.extensions.bulk.block_columns import RangeTables
from scan.extensions.bulk.range_files import Range, RangeFiles
from scan.extensions.history_files.e2store import E2File
from scan.extensions.history_files.raw_block import RawBlock, read_block
from scan.extensions.history_files.raw_decoder import decode
from scan.extensions.history_files.rlp_reader import list_content, read_list
from scan.extensions.history_files.senders import sender
from scan.indexer.block_source import FetchedBlock
from scan.indexer.block_traces import without_traces
from scan.indexer.log_selection import NO_LOGS

BLOCKS = 200
CHAIN_ID = 1


def microseconds(folder: Path) -> dict[str, float]:
    """Return the steps of the first blocks of a folder's first file. `decode` has `senders` in
    it, which are recovered once more for this."""
    path = min(folder.glob("*.ere"))
    spent: dict[str, float] = defaultdict(float)
    transactions, before = 0, time.process_time()

    def note(step: str) -> None:
        nonlocal before
        now = time.process_time()
        spent[step] += now - before
        before = now

    tables = RangeTables(NO_LOGS)
    with closing(E2File(path)) as file, tempfile.TemporaryDirectory(dir=folder) as written:
        last = min(BLOCKS, file.count) - 1
        for number in range(last + 1):
            parts = file.parts(number)
            note("snappy")
            raw = read_block(parts, number)
            note("proof")
            _recover(raw)
            note("senders")
            block, _, _ = decode(raw, CHAIN_ID)
            note("decode")
            tables.add([FetchedBlock(block, *without_traces(block)[:3])])
            note("rows")
            transactions += len(block.transactions)
        made = tables.finish()
        note("rows")
        RangeFiles(Path(written)).write(Range(0, last), made)
        note("parquet")
    return {step: seconds / transactions * 1e6 for step, seconds in spent.items()}


def _recover(raw: RawBlock) -> None:
    for encoded in raw.transactions:
        start, end = list_content(encoded, int(encoded[0] < LISTS))
        sender(encoded, start, read_list(encoded, start, end))
