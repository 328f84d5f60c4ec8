"""Questions about what blocks have besides transactions: authorizations, earnings by day, and the
requests to the consensus layer that a block included."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import orjson

from scan import parameters
from scan.extensions.block_records.rows import ExecutionRequest, requests_hash, requests_in
from scan.hex import data, to_hex
from scan.queries import blocks, cursors, filtered_pages, transactions
from scan.queries.filter_values import Value
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader


def authorizations_page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    """Return a page; a transaction's authorizations are read from its block alone."""
    blocks = 0, parameters.BIGINT_MAX
    transaction_hash = filters.get("transaction")
    if isinstance(transaction_hash, bytes):
        record = transactions.get(reader, transaction_hash)
        block = parameters.BIGINT_MAX if record is None else json.loads(record)["blockNumber"]
        blocks = block, block
    return filtered_pages.filtered_page(
        reader,
        "authorizations",
        filters,
        window,
        blocks=blocks,
        are_kept=transaction_hash is not None,
    )


MOST_DAYS = 31  # whose blocks one page reads; of one producer, an index has them apart
MOST_DAYS_OF_MINER = 366


def earnings_page(reader: Reader, window: Window, arguments: Mapping[str, str]) -> Page:
    """Return a page of days between two dates (UTC), both included, the newest first, by the
    parameters of a request. It may end before it is full; its cursor goes on. Raises
    InvalidParameter."""
    miner = parameters.optional_address(arguments, "miner")
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    filters = {"miner": miner, "first": first, "last": last}
    kinds = (cursors.ORDINAL, cursors.ORDINAL, cursors.ADDRESS)
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


def included_requests(reader: Reader, number_or_hash: int | bytes) -> dict[str, Any]:
    """Return the record of a block's requests, which may be of older transactions. They are null
    where logs do not show them: only those are returned whose hash is the one in the block's
    header. Raises NotFound."""
    number, header_hash, rows = reader.row(
        "queries/execution_requests_get_included",
        number=number_or_hash if isinstance(number_or_hash, int) else None,
        hash=number_or_hash if isinstance(number_or_hash, bytes) else None,
        most_deposits=MOST_DEPOSITS,
        most_queued=MOST_QUEUED,
    )
    if number is None:
        raise blocks.not_indexed(reader, number_or_hash)
    if header_hash is None:
        return {"blockNumber": number, "requestsHash": None, "requests": None}
    submitted: dict[bytes, list[ExecutionRequest]] = defaultdict(list)
    records = {}
    for row in orjson.loads(rows):
        columns: dict[str, Any] = row["columns"]
        columns |= {name: data(value) for name, value in columns.items() if isinstance(value, str)}
        request = ExecutionRequest(**columns)
        submitted[request.type].append(request)
        records[request.ordinal] = row["record"]
    included = requests_in(number, submitted)
    is_proven = requests_hash(included) == bytes(header_hash)
    return {
        "blockNumber": number,
        "requestsHash": to_hex(bytes(header_hash)),
        "requests": [records[request.ordinal] for request in included] if is_proven else None,
    }
