"""Ranges of blocks fetched by several processes, each range decoded and written to its files."""

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import DecodeError

from scan.bulk.block_columns import RangeTables
from scan.bulk.column_decoder import Decoded, decode_columns
from scan.bulk.hex_columns import Surprising
from scan.bulk.range_files import Range, RangeFiles, split
from scan.bulk.typed_blocks import BlockWithReceipts, read_replies
from scan.bulk.worker_pool import TaskFailed, WorkerPool
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import AnswerTooLarge, Node, NodeError, RpcError
from scan.indexer.block_source import BlockSource, FetchedBlock
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch_process import OBJECTS_BETWEEN_COLLECTIONS
from scan.settings import Settings

log = logging.getLogger(__name__)

# With 20 blocks the parsed answer outgrows the processor's cache: 9 us a transaction instead of 4.
FETCH_BLOCKS = 5
DECODED_TRANSACTIONS = 6_000  # at once, at least
REQUESTS_AHEAD = 2  # of one worker
ATTEMPTS = 8  # at a range, by one worker
MAX_PAUSE_S = 20.0
POLL_S = 0.2

_sources: dict[tuple[Any, ...], BlockSource] = {}  # of this process


class SpoolFailed(Exception):
    """A range cannot be had from the nodes."""


class RangeTask(NamedTuple):
    """What a worker needs to know; each range begins with another node than the one before it."""

    rpc_urls: tuple[str, ...]
    ca_bundle: str
    traces: str
    selection: LogSelection
    folder: str
    blocks: Range

    def __str__(self) -> str:
        return f"blocks {self.blocks.first} to {self.blocks.last}"


def spool(
    settings: Settings,
    selection: LogSelection,
    files: RangeFiles,
    ranges: Sequence[Range],
    processes: int,
    advance: Callable[[int, int], object],
    stop: threading.Event,
) -> None:
    """Write the files of these ranges, or of some until `stop`.

    `advance` is called with how many ranges and transactions came to that. Raises SpoolFailed.
    """
    urls = settings.rpc_urls
    tasks = [
        RangeTask(
            urls[number % len(urls) :] + urls[: number % len(urls)],
            settings.ca_bundle,
            settings.traces,
            selection,
            str(files.folder),
            blocks,
        )
        for number, blocks in enumerate(ranges)
    ]
    with closing(WorkerPool(spool_range, processes).results(tasks)) as results:
        try:
            for transactions in results:
                advance(1, transactions)
                if stop.is_set():
                    return
        except TaskFailed as error:
            raise SpoolFailed(str(error)) from None


@contextmanager
def spooling(
    settings: Settings,
    selection: LogSelection,
    files: RangeFiles,
    ranges: Sequence[Range],
    processes: int,
    advance: Callable[[int, int], object],
    stop: threading.Event,
) -> Iterator[Future[None]]:
    """spool() in a thread, which only waits for its processes; at the end of the block until it is
    done. Ends it where the block raises; raises what it raised."""
    ending = threading.Event()
    with ThreadPoolExecutor(1, "spool") as pool:
        end = pool.submit(spool, settings, selection, files, ranges, processes, advance, ending)
        try:
            yield end
            while not wait([end], POLL_S).done:
                if stop.is_set():
                    ending.set()
            end.result()
        finally:
            ending.set()


def spool_range(task: RangeTask) -> int:
    """In a worker; how many transactions the range has. Raises SpoolFailed."""
    selection, blocks, files = task.selection, task.blocks, RangeFiles(Path(task.folder))
    if files.has(blocks):
        return 0  # of another machine, meanwhile
    key = (task.rpc_urls, task.ca_bundle, task.traces)
    if key not in _sources:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        node = Node(task.rpc_urls, ca_bundle=task.ca_bundle)
        _sources[key] = BlockSource(node, traces=task.traces)
    for attempt in range(ATTEMPTS):
        tables, transactions = RangeTables(selection), 0
        try:
            transactions = _read(_sources[key], blocks, tables, selection)
            break
        except (NodeError, RpcError, MalformedBlock) as error:
            if attempt == ATTEMPTS - 1:
                raise SpoolFailed(f"{task}: {error}") from None
            time.sleep(min(0.25 * 2.0**attempt, MAX_PAUSE_S))
    files.write(blocks, tables.finish())
    return transactions


def _read(source: BlockSource, blocks: Range, tables: RangeTables, selection: LogSelection) -> int:
    """All of the range into its tables; how many transactions they have.

    Raises NodeError, also where blocks are not linked to each other.
    """
    transactions, last_hash = 0, None
    for part in _decoded(source, blocks, selection):
        if isinstance(part, Decoded):
            tables.add_tables(part.tables)
            links = part.links
            transactions += part.tables["transactions"].num_rows
        else:
            tables.add(part)
            links = [(fetched.block.hash, fetched.block.parent_hash) for fetched in part]
            transactions += sum(len(fetched.block.transactions) for fetched in part)
        for hash_, parent_hash in links:
            if last_hash not in (None, parent_hash):
                raise NodeError("the node's blocks do not name each other as parents")
            last_hash = hash_
    return transactions


def _decoded(
    source: BlockSource, blocks: Range, selection: LogSelection
) -> Iterator[Decoded | list[FetchedBlock]]:
    """Blocks of the range, those of several requests at once where they are decoded in columns."""
    typed: list[BlockWithReceipts] = []
    first = blocks.first
    for request, fetched in _fetch(source, blocks):
        if isinstance(fetched, Typed):
            typed += fetched.blocks
            if sum(len(receipts) for _, receipts in typed) < DECODED_TRANSACTIONS:
                continue
        yield from _decode(source, first, typed, selection)
        if not isinstance(fetched, Typed):
            yield fetched
        typed, first = [], request.last + 1
    yield from _decode(source, first, typed, selection)


def _decode(
    source: BlockSource, first: int, blocks: list[BlockWithReceipts], selection: LogSelection
) -> Iterator[Decoded | list[FetchedBlock]]:
    """In columns, but for surprising blocks: halves are tried, down to one, which is read again."""
    if not blocks:
        return
    try:
        yield decode_columns(blocks, first, selection)
    except Surprising:
        if len(blocks) == 1:
            yield source.blocks(first, first)
            return
        half = len(blocks) // 2
        yield from _decode(source, first, blocks[:half], selection)
        yield from _decode(source, first + half, blocks[half:], selection)


def _fetch(
    source: BlockSource, blocks: Range
) -> Iterator[tuple[Range, "Typed | list[FetchedBlock]"]]:
    """Request after request; while blocks are decoded, the next one is on its way."""
    requests = iter(split(*blocks, FETCH_BLOCKS))
    with ThreadPoolExecutor(REQUESTS_AHEAD, "fetch") as pool:
        pending = deque(
            (request, pool.submit(_fetch_some, source, *request))
            for request in islice(requests, REQUESTS_AHEAD)
        )
        try:
            while pending:
                request, future = pending.popleft()
                fetched = future.result()
                pending.extend(
                    (following, pool.submit(_fetch_some, source, *following))
                    for following in islice(requests, 1)
                )
                yield request, fetched
        finally:
            for _, future in pending:
                future.cancel()


class Typed(NamedTuple):
    blocks: Sequence[BlockWithReceipts]


def _fetch_some(source: BlockSource, first: int, last: int) -> Typed | list[FetchedBlock]:
    """By their types where the node answers as nearly all do, else as the indexer reads them."""
    with suppress(NodeError, AnswerTooLarge, DecodeError):
        text = source.text(first, last)
        if text is not None and (typed := read_replies(text, last - first + 1)):
            return Typed(typed)
    fetched = source.blocks(first, last)
    while fetched[-1].block.number < last:
        fetched += source.blocks(fetched[-1].block.number + 1, last)
    return fetched
