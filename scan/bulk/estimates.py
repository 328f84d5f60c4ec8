"""What a backfill will take, from a sample of the node's blocks: transactions and bytes."""

import random
from collections.abc import Sequence
from pathlib import Path
from shutil import disk_usage
from typing import Any, NamedTuple

from scan.ethereum.client import Call, Node, NodeError

SAMPLE_BLOCKS = 100
# Estimates. Files: 90 bytes of hashes and addresses that nothing compresses, and as much again for
# events and what DuckDB derives. Tables: rows and indexes, measured at 10 M transactions.
FILE_BYTES = 300
TABLE_BYTES = 1_200


class Estimate(NamedTuple):
    transactions: int
    file_bytes: int
    table_bytes: int


def estimate(node: Node, first: int, last: int) -> Estimate:
    """Raises NodeError."""
    numbers = sorted(random.sample(range(first, last + 1), min(SAMPLE_BLOCKS, last - first + 1)))
    calls = [Call("eth_getBlockByNumber", (hex(n), False)) for n in numbers]
    transactions = _mean(list(node.results(calls))) * (last - first + 1)
    return Estimate(
        int(transactions), int(transactions * FILE_BYTES), int(transactions * TABLE_BYTES)
    )


def free_bytes(folder: Path) -> int:
    """Of the file system that the folder is on, or will be."""
    while not folder.exists():
        folder = folder.parent
    return disk_usage(folder).free


def _mean(headers: Sequence[Any]) -> float:
    try:
        return sum(len(header["transactions"]) for header in headers) / len(headers)
    except (TypeError, KeyError) as error:
        raise NodeError(f"the node's answer is malformed: {error!r}") from error
