"""Authorizations (EIP-7702), by which accounts delegate to the code of a contract.

What producers of blocks earned, by day and producer.

Requests to the consensus layer (EIP-7685) that a block has included.
"""

import json
from collections import defaultdict
from datetime import date
from typing import Any, NamedTuple

import orjson

from scan.extensions.block_records.execution_requests.rows import (
    ExecutionRequest,
    requests_hash,
    requests_in,
)
from scan.hex import data
from scan.parameters import BIGINT_MAX
from scan.queries import transactions
from scan.queries.cursors import ADDRESS, ORDINAL
from scan.queries.pages import Page, Value, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    """Return a page; a transaction's authorizations are read from its block alone."""
    blocks = 0, BIGINT_MAX
    transaction_hash = filters.get("transaction")
    if isinstance(transaction_hash, bytes):
        record = transactions.get(reader, transaction_hash)
        block = BIGINT_MAX if record is None else json.loads(record)["blockNumber"]
        blocks = block, block
    return filtered_page(reader, "authorizations", filters, window, blocks=blocks)


MOST_DAYS = 31  # whose blocks one page reads; of one producer, an index has them apart
MOST_DAYS_OF_MINER = 366


def earnings_page(
    reader: Reader,
    window: Window,
    miner: bytes | None,
    first: date | None = None,
    last: date | None = None,
) -> Page:
    """Return a page of days between two dates (UTC), both included, the newest first. It may end
    before it is full; its cursor goes on."""
    filters = {"miner": miner, "first": first, "last": last}
    kinds = (ORDINAL, ORDINAL, ADDRESS)
    traversal = window.traversal("earnings", filters, kinds, has_blocks=False)
    after_day, after_blocks, after_miner = traversal.position(3)
    data, count, *following = reader.row(
        "queries/earnings_list",
        is_unbounded=True,
        miner=miner,
        has_miner=miner is not None,
        date_from=first,
        date_to=last,
        after_day=after_day,
        after_blocks=after_blocks,
        after_miner=after_miner,
        limit=window.limit,
        most_days=MOST_DAYS if miner is None else MOST_DAYS_OF_MINER,
    )
    day, blocks, address = following
    return Page(data, count, None, traversal.next(day and (day, int(blocks), bytes(address))))


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
