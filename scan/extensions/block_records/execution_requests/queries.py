"""Requests to the consensus layer (EIP-7685) that a block has included."""

from collections import defaultdict
from typing import Any, NamedTuple

import orjson

from scan.extensions.block_records.execution_requests.rows import (
    ExecutionRequest,
    requests_hash,
    requests_in,
)
from scan.hex import data
from scan.queries.reader import Reader

MOST_DEPOSITS = 8192  # of a block (EIP-6110)
MOST_QUEUED = 1000  # of each type: in a longer queue the fee would exceed all coin there is


class TakenRequests(NamedTuple):
    """Records of the requests that a block included; None where logs do not show them."""

    block_number: int
    requests_hash: bytes | None  # of its header
    records: list[Any] | None


def taken_by(reader: Reader, named: int | bytes) -> TakenRequests | None:
    """Return the requests of a block by its number or hash; None where there is no such block.

    Requests are returned only where their hash is the one in the block's header.
    """
    number, hash_, rows = reader.row(
        "queries/execution_requests_get_taken",
        number=named if isinstance(named, int) else None,
        hash=named if isinstance(named, bytes) else None,
        most_deposits=MOST_DEPOSITS,
        most_queued=MOST_QUEUED,
    )
    if number is None:
        return None
    if hash_ is None:
        return TakenRequests(number, None, None)
    submitted: dict[bytes, list[ExecutionRequest]] = defaultdict(list)
    records = {}
    for row in orjson.loads(rows):
        columns: dict[str, Any] = row["columns"]
        columns |= {name: data(value) for name, value in columns.items() if isinstance(value, str)}
        request = ExecutionRequest(**columns)
        submitted[request.type].append(request)
        records[request.ordinal] = row["record"]
    taken = requests_in(number, submitted)
    if requests_hash(taken) != bytes(hash_):
        return TakenRequests(number, bytes(hash_), None)
    return TakenRequests(number, bytes(hash_), [records[request.ordinal] for request in taken])
