"""Pages of activities: rows of three lists, merged along the chain with the newest first.

Of a transaction its own row comes first, then its token transfers and its internal transactions,
each from the last to the first.
"""

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import orjson

from scan.errors import InvalidParameter, NotFound
from scan.extensions.blockscout.activity_filter import CREATION, ActivityFilter
from scan.extensions.blockscout.lists import Place, Position, Record, contexts_of, number
from scan.extensions.blockscout.transaction_objects import move_kinds
from scan.extensions.transaction_details.transaction_contexts import contexts
from scan.http.requests import reader
from scan.queries.entities import matching_page
from scan.queries.ordinals import ordinal_at
from scan.queries.pages import Window

MOST_COMPARED = 2000  # rows for one page, which may then have fewer than others
AT_ONCE = 100
INTERNAL, TRANSFER, TRANSACTION = range(3)  # the ranks of a transaction's rows, ascending
CURSOR = ("block_number", "transaction_index")
OF_TRANSFER = ("token_transfer_index", "token_transfer_batch_index")
OF_INTERNAL = "internal_transaction_index"


class Activity(NamedTuple):
    """A row of one of the lists: its place in the chain, its record, that of its transaction as far
    as lists need it, and the kinds that a move of the coin is of."""

    place: tuple[int, ...]  # block, transaction, rank, and the row's place among those of its rank
    record: Record
    context: Record
    kinds: Sequence[str] = ()

    @property
    def rank(self) -> int:
        return self.place[2]

    @property
    def transaction_hash(self) -> str:
        return str(self.record["hash" if self.rank == TRANSACTION else "transactionHash"])

    def indexes(self) -> Position:
        """Return the place in the names of Blockscout's items and positions."""
        block, transaction, rank, *own = self.place
        shown: Position = dict.fromkeys((OF_INTERNAL, *OF_TRANSFER))
        if rank == TRANSFER:
            shown |= zip(OF_TRANSFER, own, strict=True)
        elif rank == INTERNAL:
            shown[OF_INTERNAL] = own[0]
        return {**dict(zip(CURSOR, (block, transaction), strict=True)), **shown}


def read_activities(
    activity_filter: ActivityFilter, most: int
) -> tuple[list[Activity], Position | None]:
    """Return the rows that match after the request's position, and the position of the next page,
    None where no rows follow."""
    place = read_place()
    lists = [_rows(rank, activity_filter, place) for rank in _ranks(activity_filter)]
    merged = merge(*lists, key=lambda activity: activity.place, reverse=True)
    shown: list[Activity] = []
    compared = None
    for compared in islice(merged, MOST_COMPARED):
        if _matches(compared, activity_filter):
            shown.append(compared)
        if len(shown) == most:
            break
    has_more = compared is not None and next(merged, None) is not None
    return shown, compared.indexes() if has_more and compared is not None else None


def _ranks(activity_filter: ActivityFilter) -> list[int]:
    of_coin = [TRANSACTION, INTERNAL] if activity_filter.has_coin else []
    return [*of_coin, *([TRANSFER] if activity_filter.has_tokens else [])]


def read_place() -> tuple[int, ...] | None:
    """Return the place of the last row that a client has seen."""
    block, transaction = (number(name) for name in CURSOR)
    transfer, batch = (number(name) for name in OF_TRANSFER)
    internal = number(OF_INTERNAL)
    if block is None:
        if any(value is not None for value in (transaction, transfer, batch, internal)):
            raise InvalidParameter("block_number is missing.", field="block_number")
        return None
    if internal is not None:
        return block, transaction or 0, INTERNAL, internal
    if transfer is not None:
        return block, transaction or 0, TRANSFER, transfer, batch or 0
    return block, transaction or 0, TRANSACTION


def _position(rank: int, place: tuple[int, ...] | None) -> tuple[Place, ...] | None:
    """Return the position in a list of the first row after a place."""
    if place is None:
        return None
    block, transaction, of_rank, *own = place
    if rank == TRANSACTION:
        return (ordinal_at(reader(), "transactions", block, transaction),)
    entity = "token_transfers" if rank == TRANSFER else "internal_transfers"
    row_index, batch_index = 0, 0
    if rank < of_rank:
        transaction += 1  # all of this transaction follow
    elif rank == of_rank:
        row_index, batch_index = [*own, 0][:2]
    at = ordinal_at(
        reader(),
        entity,
        block,
        row_index,
        transaction_index=transaction,
        batch_index=batch_index,
    )
    return (at,)


def _rows(
    rank: int, activity_filter: ActivityFilter, place: tuple[int, ...] | None
) -> Iterator[Activity]:
    filters: dict[str, Any] = activity_filter.list_key(of_tokens=rank == TRANSFER)
    entity = ("internal_transfers", "token_transfers", "transactions")[rank]
    window = Window(
        AT_ONCE,
        0,
        position=_position(rank, place),
        time_from=activity_filter.time_from,
        time_to=activity_filter.time_to,
    )
    while True:
        try:
            page = matching_page(reader(), entity, window, filters)
        except NotFound:  # internal transactions are not indexed
            return
        yield from _activities(rank, orjson.loads(page.data))
        if page.position is None:
            return
        window = window._replace(position=(page.position,))


def _activities(rank: int, records: list[Record]) -> Iterator[Activity]:
    if rank == TRANSACTION:
        context_of = contexts(reader(), (record["hash"] for record in records))
        kinds = move_kinds(records)
        for record, of_record in zip(records, kinds, strict=True):
            place = record["blockNumber"], record["transactionIndex"], rank
            yield Activity(place, record, context_of[record["hash"]], of_record)
        return
    context_of = contexts_of(records)
    moves = move_kinds(records) if rank == INTERNAL else [[] for _ in records]
    for record, of_record in zip(records, moves, strict=True):
        context = context_of[record["transactionHash"]]
        own = (record["transferIndex"],) if rank == INTERNAL else _of_transfer(record)
        place = record["blockNumber"], context["transactionIndex"], rank, *own
        yield Activity(place, record, context, of_record)


def _of_transfer(record: Record) -> tuple[int, int]:
    return record["logIndex"], record["batchIndex"]


def _matches(activity: Activity, activity_filter: ActivityFilter) -> bool:
    record, method = activity.record, activity.context["methodId"]
    if activity.rank == TRANSFER:
        return activity_filter.has_transfer(record, method)
    if activity.rank == INTERNAL:
        method = None  # the input of calls inside transactions is not indexed
        if CREATION in activity.kinds:
            record = {**record, "toAddress": None}
    return activity_filter.has_move(record, activity.kinds, method)
