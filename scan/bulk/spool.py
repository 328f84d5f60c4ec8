"""Ranges of blocks fetched by many processes, each range decoded and written to its files.

dask's scheduler gives a killed worker's range to another one.
"""

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import DecodeError

from scan.bulk.block_columns import RangeTables
from scan.bulk.column_decoder import Decoded, decode_columns
from scan.bulk.hex_columns import Surprising
from scan.bulk.range_files import Range, RangeFiles, split
from scan.bulk.typed_blocks import BlockWithReceipts, read_replies
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
RANGES_AHEAD = 4  # for each worker, so that none waits for the scheduler
WORKER_DEATHS = 20  # that one range may cause before the backfill ends

_sources: dict[tuple[Any, ...], BlockSource] = {}  # of this process


class SpoolFailed(Exception):
    """A range cannot be had from the nodes."""


def spool(
    settings: Settings,
    selection: LogSelection,
    files: RangeFiles,
    ranges: Sequence[Range],
    client: Any,
    advance: Callable[[int, int], object],
    stop: threading.Event,
) -> None:
    """Write the files of these ranges, or of some until `stop`.

    `advance` is called with how many ranges and transactions came to that.
    `client` is of dask's scheduler. Raises SpoolFailed.
    """
    from distributed import as_completed

    remaining = iter(enumerate(ranges))
    threads = sum(client.nthreads().values()) or 1

    def submit(number: int, blocks: Range) -> Any:
        return client.submit(
            spool_range,
            *(settings.rpc_urls, settings.ca_bundle, settings.traces, selection),
            *(str(files.folder), blocks, number),
            pure=False,
        )

    futures = as_completed(
        [submit(*entry) for entry in islice(remaining, RANGES_AHEAD * threads)], with_results=False
    )
    for future in futures:
        if future.exception() is not None:
            raise SpoolFailed(str(future.exception()) or repr(future.exception()))
        advance(1, future.result())
        if stop.is_set():
            return
        for entry in islice(remaining, 1):
            futures.add(submit(*entry))


def spool_range(
    rpc_urls: tuple[str, ...],
    ca_bundle: str,
    traces: str,
    selection: LogSelection,
    folder: str,
    blocks: Range,
    number: int,
) -> int:
    """In a worker; how many transactions the range has.

    Each range begins with another node than the one before it. Raises SpoolFailed.
    """
    turn = number % len(rpc_urls)
    urls = rpc_urls[turn:] + rpc_urls[:turn]
    key = (urls, ca_bundle, traces)
    if key not in _sources:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        _sources[key] = BlockSource(Node(urls, ca_bundle=ca_bundle), traces=traces)
    for attempt in range(ATTEMPTS):
        tables, transactions = RangeTables(selection), 0
        try:
            transactions = _read(_sources[key], blocks, tables, selection)
            break
        except (NodeError, RpcError, MalformedBlock) as error:
            if attempt == ATTEMPTS - 1:
                raise SpoolFailed(f"blocks {blocks.first} to {blocks.last}: {error}") from None
            time.sleep(min(0.25 * 2.0**attempt, MAX_PAUSE_S))
    RangeFiles(Path(folder)).write(blocks, tables.finish())
    return transactions


def _read(
    source: BlockSource, blocks: Range, tables: RangeTables, selection: LogSelection
) -> int:
    """All of the range into its tables; how many transactions they have.

    Raises NodeError, also where blocks are not linked to each other.
    """
    transactions, last_hash = 0, None
    for first, typed in _fetch(source, blocks):
        for part in _decode(source, first, typed, selection):
            if isinstance(part, Decoded):
                tables.add_tables(part.tables)
                links = part.links
                transactions += len(part.tables["transactions"])
            else:
                tables.add(part)
                links = [(fetched.block.hash, fetched.block.parent_hash) for fetched in part]
                transactions += sum(len(fetched.block.transactions) for fetched in part)
            for hash_, parent_hash in links:
                if last_hash not in (None, parent_hash):
                    raise NodeError("the node's blocks do not name each other as parents")
                last_hash = hash_
    return transactions


def _decode(
    source: BlockSource,
    first: int,
    blocks: Sequence[BlockWithReceipts] | Sequence[FetchedBlock],
    selection: LogSelection,
) -> Iterator[Decoded | Sequence[FetchedBlock]]:
    """In columns, but for surprising blocks: halves are tried, down to one, which is read again."""
    if not isinstance(blocks[0], FetchedBlock):
        try:
            yield decode_columns(blocks, first, selection)
        except Surprising:
            if len(blocks) == 1:
                yield source.blocks(first, first)
                return
            half = len(blocks) // 2
            yield from _decode(source, first, blocks[:half], selection)
            yield from _decode(source, first + half, blocks[half:], selection)
    else:
        yield blocks


def _fetch(
    source: BlockSource, blocks: Range
) -> Iterator[tuple[int, Sequence[BlockWithReceipts] | Sequence[FetchedBlock]]]:
    """All of them, with the number of the first: some from one request, or typed ones from several.

    While blocks are decoded, the next request is on its way.
    """
    requests = iter(split(*blocks, FETCH_BLOCKS))
    typed: list[BlockWithReceipts] = []
    first = blocks.first
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
                if isinstance(fetched[0], FetchedBlock):
                    if typed:
                        yield first, typed
                    yield request.first, fetched
                    typed, first = [], request.last + 1
                    continue
                typed += fetched
                if sum(len(receipts) for _, receipts in typed) >= DECODED_TRANSACTIONS:
                    yield first, typed
                    typed, first = [], request.last + 1
            if typed:
                yield first, typed
        finally:
            for _, future in pending:
                future.cancel()


def _fetch_some(
    source: BlockSource, first: int, last: int
) -> Sequence[BlockWithReceipts] | Sequence[FetchedBlock]:
    """By their types where the node answers as nearly all do, else as the indexer reads them."""
    with suppress(NodeError, AnswerTooLarge, DecodeError):
        text = source.text(first, last)
        if text is not None and (typed := read_replies(text, last - first + 1)):
            return typed
    fetched = source.blocks(first, last)
    while fetched[-1].block.number < last:
        fetched += source.blocks(fetched[-1].block.number + 1, last)
    return fetched


@contextmanager
def dask_client(workers: int, scheduler: str) -> Iterator[Any]:
    """Of the scheduler at that address; empty: of worker processes on this machine."""
    import dask
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.WARNING)
    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": WORKER_DEATHS,
            "distributed.worker.daemon": True,
            "distributed.admin.tick.limit": "30s",
        }
    )
    if scheduler:
        with Client(scheduler) as client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            # Whoever reaches a scheduler has it run code, so its peers have certificates.
            security=True,
            protocol="tls://",
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
