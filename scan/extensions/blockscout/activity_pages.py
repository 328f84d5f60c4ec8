"""The filter of a list of activities: transactions, token transfers and internal transactions.

Pages of activities: rows of three lists, merged along the chain with the newest first.

Of a transaction its own row comes first, then its token transfers and its internal transactions,
each from the last to the first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.errors import InvalidParameter, NotFound
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.blockscout import paths, transaction_lists
from scan.extensions.blockscout.address_and_token_objects import ALL_STANDARDS, OURS
from scan.extensions.decoding.decoding import contexts
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.queries import cursors, entities
from scan.queries.list_pages import Window

COIN_TRANSFER, INTERACTION, CREATION = "coin_transfer", "contract_interaction", "contract_creation"
OF_COIN = (COIN_TRANSFER, INTERACTION, CREATION)
NATIVE = "native"
MOST_VALUES = 20  # of one parameter

ActivityRecord = Mapping[str, Any]


class Chosen(NamedTuple):
    """The values that a parameter includes, None for all, and those that another excludes."""

    included: frozenset[str] | None
    excluded: frozenset[str]

    def has(self, value: str | None) -> bool:
        return (self.included is None or value in self.included) and value not in self.excluded

    @property
    def is_open(self) -> bool:
        return self.included is None and not self.excluded

    @property
    def single(self) -> bytes | None:
        """Return the only address that is included; None where there are others or none."""
        if self.included is None or len(self.included) != 1:
            return None
        [value] = self.included
        return None if value == NATIVE else bytes.fromhex(value[2:])


class ActivityFilter(NamedTuple):
    """`types` are kinds of moves of the coin, and token standards; `methods` are selectors in hex;
    amounts are in whole units. Addresses of either side match together where `is_both`."""

    types: frozenset[str] | None
    methods: frozenset[str] | None
    senders: Chosen
    recipients: Chosen
    is_both: bool
    tokens: Chosen
    least: Decimal | None
    most: Decimal | None
    time_from: int | None
    time_to: int | None

    @property
    def has_coin(self) -> bool:
        """Return whether moves of the coin may match."""
        is_typed = self.types is None or not self.types.isdisjoint(OF_COIN)
        return is_typed and self.tokens.has(NATIVE)

    @property
    def has_tokens(self) -> bool:
        is_typed = self.types is None or not self.types <= {*OF_COIN}
        return is_typed and self.tokens.included != frozenset({NATIVE})

    def list_key(self, *, of_tokens: bool) -> dict[str, bytes]:
        """Return the filter of the list that has all matching rows, which is empty for all."""
        sender, recipient = self.senders.single, self.recipients.single
        token = self.tokens.single if of_tokens else None
        if sender is not None and sender == recipient and not self.is_both:
            return {"address": sender}
        if sender is not None and (self.is_both or self.recipients.is_open):
            return {"from": sender}
        if recipient is not None and (self.is_both or self.senders.is_open):
            return {"to": recipient}
        return {} if token is None else {"token": token}

    def has_parties(self, record: ActivityRecord) -> bool:
        is_sent = self.senders.has(record["fromAddress"])
        is_received = self.recipients.has(record["toAddress"])
        if self.is_both or self.senders.is_open or self.recipients.is_open:
            return is_sent and is_received
        return is_sent or is_received

    def has_amount(self, units: str, decimals: int) -> bool:
        amount = Decimal(units).scaleb(-decimals)
        return (self.least is None or amount >= self.least) and (
            self.most is None or amount <= self.most
        )

    def has_move(
        self, record: ActivityRecord, kinds: Collection[str], method: str | None, decimals: int
    ) -> bool:
        """Return whether a row of some `kinds` matches by what all of them have."""
        return (
            (self.types is None or not self.types.isdisjoint(kinds))
            and self.has_parties(record)
            and (self.methods is None or method in self.methods)
            and self.has_amount(record["value"], decimals)
        )


def read_filter() -> ActivityFilter:
    """Return the filter of the request's parameters; raises InvalidParameter."""
    return ActivityFilter(
        paths.parsed("transaction_types", _types),
        paths.parsed("methods", _methods),
        _chosen("from_address_hashes"),
        _chosen("to_address_hashes"),
        (paths.one_of("address_relation", ("or", "and", "OR", "AND")) or "or").lower() == "and",
        _chosen("token_contract_address_hashes"),
        paths.parsed("amount_from", _amount),
        paths.parsed("amount_to", _amount),
        paths.parsed("age_from", parameters.time_s),
        paths.parsed("age_to", partial(parameters.time_s, is_upper=True)),
    )


def _listed(text: str, name: str) -> list[str]:
    values = [value.strip() for value in text.split(",") if value.strip()]
    if len(values) > MOST_VALUES:
        raise InvalidParameter(f"{name} may have {MOST_VALUES} values.", field=name)
    return values


def _types(text: str, name: str) -> frozenset[str]:
    values = _listed(text, name)
    kinds = {kind.upper(): kind for kind in (*OF_COIN, *ALL_STANDARDS)} | OURS
    if any(value.upper() not in kinds for value in values):
        raise InvalidParameter(f"{name} must be of {', '.join(sorted(kinds))}.", field=name)
    return frozenset(kinds[value.upper()] for value in values)


def _methods(text: str, name: str) -> frozenset[str]:
    return frozenset(to_hex(parameters.method(value, name)) for value in _listed(text, name))


def _chosen(name: str) -> Chosen:
    names = (f"{name}_to_include", f"{name}_to_exclude")
    included, excluded = (paths.parsed(name, _addresses) for name in names)
    return Chosen(included, excluded or frozenset())


def _addresses(text: str, name: str) -> frozenset[str]:
    return frozenset(
        NATIVE if value == NATIVE and "token" in name else to_hex(parameters.address(value, name))
        for value in _listed(text, name)
    )


def _amount(text: str, name: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise InvalidParameter(f"{name} must be a decimal number.", field=name)
    return amount


MOST_COMPARED = 2000  # rows for one page, which may then have fewer than others


class ActivityBounds:
    """The bound of one page."""

    compared = MOST_COMPARED


AT_ONCE = 100
INTERNAL, TRANSFER, TRANSACTION = range(3)  # the ranks of a transaction's rows, ascending
ENTITIES = ("internal_transfers", "token_transfers", "transactions")  # by rank
INDEXES: Sequence[Sequence[str]] = (("transferIndex",), ("logIndex", "batchIndex"), ())  # by rank
CURSOR = ("block_number", "transaction_index")
OF_TRANSFER = ("token_transfer_index", "token_transfer_batch_index")
OF_INTERNAL = "internal_transaction_index"


class Activity(NamedTuple):
    """A row of one of the lists: its place in the chain, its record, that of its transaction as far
    as lists need it, and the kinds that a move of the coin is of."""

    place: tuple[int, ...]  # block, transaction, rank, and the row's place among those of its rank
    record: paths.Record
    context: paths.Record
    kinds: Sequence[str] = ()

    @property
    def rank(self) -> int:
        return self.place[2]

    @property
    def transaction_hash(self) -> str:
        return str(self.record["hash" if self.rank == TRANSACTION else "transactionHash"])

    def indexes(self) -> paths.Position:
        """Return the place in the names of Blockscout's items and positions."""
        block, transaction, rank, *row_indexes = self.place
        indexes_of_kind: paths.Position = dict.fromkeys((OF_INTERNAL, *OF_TRANSFER))
        if rank == TRANSFER:
            indexes_of_kind |= zip(OF_TRANSFER, row_indexes, strict=True)
        elif rank == INTERNAL:
            indexes_of_kind[OF_INTERNAL] = row_indexes[0]
        return {**dict(zip(CURSOR, (block, transaction), strict=True)), **indexes_of_kind}


def read_activities(
    activity_filter: ActivityFilter, most: int
) -> tuple[list[Activity], paths.Position | None]:
    """Return the rows that match after the request's position, and the position of the next page,
    None where no rows follow."""
    place = read_place()
    ranks = [TRANSACTION, INTERNAL] if activity_filter.has_coin else []
    ranks += [TRANSFER] if activity_filter.has_tokens else []
    lists = [_rows(rank, activity_filter, place) for rank in ranks]
    merged = merge(*lists, key=lambda activity: activity.place, reverse=True)
    activities: list[Activity] = []
    compared = None
    for compared in islice(merged, reader().sources.get(ActivityBounds).compared):
        if _matches(compared, activity_filter):
            activities.append(compared)
        if len(activities) == most:
            break
    has_more = compared is not None and next(merged, None) is not None
    return activities, compared.indexes() if has_more and compared is not None else None


def read_place() -> tuple[int, ...] | None:
    """Return the place of the last row that a client has seen."""
    block, transaction = (paths.number(name) for name in CURSOR)
    transfer, batch = (paths.number(name) for name in OF_TRANSFER)
    internal = paths.number(OF_INTERNAL)
    if block is None:
        if any(value is not None for value in (transaction, transfer, batch, internal)):
            raise InvalidParameter("block_number is missing.", field="block_number")
        return None
    if internal is not None:
        return block, transaction or 0, INTERNAL, internal
    if transfer is not None:
        return block, transaction or 0, TRANSFER, transfer, batch or 0
    return block, transaction or 0, TRANSACTION


def _position(rank: int, place: tuple[int, ...] | None) -> tuple[paths.Place, ...] | None:
    """Return the position in a list of the first row after a place."""
    if place is None:
        return None
    block, transaction, of_rank, *row_indexes = place
    if rank == TRANSACTION:
        return (cursors.ordinal_at(reader(), ENTITIES[rank], block, transaction),)
    row_index, batch_index = 0, 0
    if rank < of_rank:
        transaction += 1  # all of this transaction follow
    elif rank == of_rank:
        row_index, batch_index = [*row_indexes, 0][:2]
    more = {"transaction_index": transaction, "batch_index": batch_index}
    return (cursors.ordinal_at(reader(), ENTITIES[rank], block, row_index, **more),)


def _rows(
    rank: int, activity_filter: ActivityFilter, place: tuple[int, ...] | None
) -> Iterator[Activity]:
    filters: dict[str, Any] = activity_filter.list_key(of_tokens=rank == TRANSFER)
    window = Window(
        AT_ONCE,
        0,
        position=_position(rank, place),
        time_from=activity_filter.time_from,
        time_to=activity_filter.time_to,
    )
    while True:
        try:
            page = entities.PAGES[ENTITIES[rank]](reader(), ENTITIES[rank], filters, window)
        except NotFound:  # internal transactions are not indexed
            return
        yield from _activities(rank, orjson.loads(page.data))
        if page.position is None:
            return
        window = window._replace(position=(page.position,))


def _activities(rank: int, records: list[paths.Record]) -> Iterator[Activity]:
    hash_name = "hash" if rank == TRANSACTION else "transactionHash"
    context_of = contexts(reader(), (record[hash_name] for record in records))
    of_records = [context_of[record[hash_name]] for record in records]
    kinds: list[list[str]] = [[] for _ in records]
    if rank != TRANSFER:
        kinds = transaction_lists.move_kinds(records, of_records)
    for record, context, of_record in zip(records, of_records, kinds, strict=True):
        row_indexes = [record[name] for name in INDEXES[rank]]
        place = record["blockNumber"], context["transactionIndex"], rank, *row_indexes
        yield Activity(place, record, context, of_record)


def _matches(activity: Activity, activity_filter: ActivityFilter) -> bool:
    record, method = activity.record, activity.context["methodId"]
    if activity.rank == TRANSFER:
        kinds = (record["tokenType"],)
        decimals = record["tokenDecimals"] or 0
        is_listed = activity_filter.tokens.has(record["tokenAddress"])
        return is_listed and activity_filter.has_move(record, kinds, method, decimals)
    if activity.rank == INTERNAL:
        method = None  # the input of calls inside transactions is not indexed
        if CREATION in activity.kinds:
            record = {**record, "toAddress": None}
    return activity_filter.has_move(record, activity.kinds, method, COIN_DECIMALS)
