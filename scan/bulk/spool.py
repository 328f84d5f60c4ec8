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
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from scan.bulk.block_columns import RangeTables
from scan.bulk.range_files import Range, RangeFiles, split
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node, NodeError, RpcError
from scan.indexer.block_source import BlockSource, FetchedBlock
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch_process import OBJECTS_BETWEEN_COLLECTIONS
from scan.indexer.reorganisation import are_linked
from scan.settings import Settings

log = logging.getLogger(__name__)

# With 20 blocks the parsed answer outgrows the processor's cache: 9 us a transaction instead of 4.
FETCH_BLOCKS = 5
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
            for fetched in _fetch(_sources[key], blocks):
                tables.add(fetched)
                transactions += sum(len(f.block.transactions) for f in fetched)
            break
        except (NodeError, RpcError, MalformedBlock) as error:
            if attempt == ATTEMPTS - 1:
                raise SpoolFailed(f"blocks {blocks.first} to {blocks.last}: {error}") from None
            time.sleep(min(0.25 * 2.0**attempt, MAX_PAUSE_S))
    RangeFiles(Path(folder)).write(blocks, tables.finish())
    return transactions


def _fetch(source: BlockSource, blocks: Range) -> Iterator[list[FetchedBlock]]:
    """All of them, a request's at a time; raises NodeError where they are not linked to each other.

    While blocks are decoded, the next request is on its way.
    """
    requests = iter(split(*blocks, FETCH_BLOCKS))
    parent_hash: bytes | None = None
    with ThreadPoolExecutor(REQUESTS_AHEAD, "fetch") as pool:
        pending = deque(
            pool.submit(_fetch_all, source, *request)
            for request in islice(requests, REQUESTS_AHEAD)
        )
        try:
            while pending:
                fetched = pending.popleft().result()
                pending.extend(
                    pool.submit(_fetch_all, source, *request) for request in islice(requests, 1)
                )
                if not are_linked(parent_hash, [f.block for f in fetched]):
                    raise NodeError("the node's blocks do not name each other as parents")
                yield fetched
                parent_hash = fetched[-1].block.hash
        finally:
            for future in pending:
                future.cancel()


def _fetch_all(source: BlockSource, first: int, last: int) -> list[FetchedBlock]:
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
