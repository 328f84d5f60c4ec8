"""Estimates of a backfill's transactions and bytes, from a sample of the node's blocks."""

import random
from collections.abc import Sequence
from pathlib import Path
from shutil import disk_usage
from statistics import fmean
from typing import Any, NamedTuple

from scan.database.connection import Database
from scan.ethereum.client import Call, Node, NodeError
from scan.extensions.backfill.history import History
from scan.extensions.operations.monitoring import disk_forecast

SAMPLE_BLOCKS = 100
# Bytes for a transaction, estimated. Files: 90 bytes of hashes and addresses that do not compress,
# and the rest for events and DuckDB's tables. Tables: rows and indexes, measured at 10 M
# transactions.
FILE_BYTES = 300
TABLE_BYTES = 1_200
OBVIOUS = 0.8  # a disk with less than this share of the estimate is surely too small
GB = 10**9


class TooLittleRoom(Exception):
    """A disk is too small for the backfill; the message says which."""


class Estimate(NamedTuple):
    transactions: int
    file_bytes: int
    table_bytes: int
    busiest: float  # mean transactions of a block in the tenth of the chain that has the most


def estimate(node: Node, first: int, last: int, history: History | None = None) -> Estimate:
    """Estimate rows and bytes by a sample of blocks. Raises NodeError."""
    numbers = sorted(random.sample(range(first, last + 1), min(SAMPLE_BLOCKS, last - first + 1)))
    elsewhere = [n for n in numbers if history is not None and n <= history.last_block]
    calls = [Call("eth_getBlockByNumber", (hex(n), False)) for n in numbers[len(elsewhere) :]]
    counts = [history.transactions_of(n) for n in elsewhere if history is not None]
    counts += _counts(list(node.results(calls)))
    transactions = fmean(counts) * (last - first + 1)
    tenth = -(-len(counts) // 10)
    return Estimate(
        int(transactions),
        int(transactions * FILE_BYTES),
        int(transactions * TABLE_BYTES),
        max(fmean(counts[start : start + tenth]) for start in range(0, len(counts), tenth)),
    )


def require_room(database: Database, folder: Path, needed: Estimate) -> None:
    """Raise TooLittleRoom where files or tables obviously do not fit on their disks.

    The database's disk is not checked where it is on another machine, or the role may not see it.
    """
    needs: dict[int, tuple[Path, int]] = {}
    data = disk_forecast.folder(database)
    for path, size in ((folder, needed.file_bytes), (data, needed.table_bytes)):
        if path is not None:
            path = _existing(path)
            first, others = needs.get(path.stat().st_dev, (path, 0))
            needs[path.stat().st_dev] = first, others + size
    for path, size in needs.values():
        free = disk_usage(path).free
        if free < size * OBVIOUS:
            raise TooLittleRoom(
                f"the disk of {path} has {free / GB:.1f} GB free; a bulk backfill needs about"
                f" {size / GB:.1f} GB there"
            )


def _existing(path: Path) -> Path:
    """Return the path, or the nearest parent of it that exists."""
    while not path.exists():
        path = path.parent
    return path


def _counts(headers: Sequence[Any]) -> list[float]:
    try:
        return [len(header["transactions"]) for header in headers]
    except (TypeError, KeyError) as error:
        raise NodeError(f"the node's answer is malformed: {error!r}") from error
