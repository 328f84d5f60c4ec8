"""Transactions, token transfers and internal transactions in one list, by many filters at once:
rows of three lists, merged along the chain with the newest first. Of a transaction its own row
comes first, then its token transfers and its internal transactions, each from the last to the
first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import orjson
from flask import current_app

from scan import parameters
from scan.contracts.abi_decoding import standard_abis
from scan.errors import InvalidParameter, NotFound
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.blockscout import decoded_objects, paths, transaction_lists
from scan.extensions.blockscout.address_and_token_objects import (
    ALL_STANDARDS,
    OURS,
    AddressObjects,
    TokenObjects,
    token_object,
    transfer_total,
)
from scan.extensions.decoding.decoding import add_methods, contexts
from scan.hex import data, to_hex
from scan.http import csv_text
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries import contracts, cursors, entities, tokens
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


MOST_IN_FILE = 1000
# What clients show of a filter, which does not choose rows; `age` is that of age_from and age_to.
NAMES = """
    age methods_names token_contract_symbols_to_include token_contract_symbols_to_exclude
""".split()
SUCCEEDED = {"result": "success"}
COLUMNS = """
    TxHash Type MethodId UtcTimestamp FromAddress ToAddress CreatedContractAddress Value
    TokenContractAddressHash TokenDecimals TokenSymbol TokenValue TokenID BlockNumber Fee
    CurrentPrice TxDateOpeningPrice TxDateClosingPrice
""".split()

blueprint = paths.Routes("advanced_filters")


@blueprint.path("/advanced-filters")
def list_activities() -> Response:
    activity_filter = _filter()
    activities, following = read_activities(activity_filter, paths.row_count())
    items = activity_objects(activities)
    return paths.list_response(items, following, search_params=_search(activity_filter))


@blueprint.path("/advanced-filters/csv")
def export_activities() -> Response:
    activities, _ = read_activities(_filter(), MOST_IN_FILE)
    items = activity_objects(activities)
    rows = [_csv_row(*pair) for pair in zip(activities, items, strict=True)]
    return current_app.response_class(csv_text.lines([COLUMNS, *rows]), mimetype="text/csv")


@blueprint.path("/advanced-filters/methods")
def list_methods() -> Response:
    """Return the functions of standards, or those that the text `q` names."""
    query = paths.text("q")
    if query is None:
        return json_value([_method(selector) for selector in standard_abis().functions])
    try:
        return json_value([_method(key, query) for key in contracts.selectors(reader(), query)])
    except InvalidParameter:
        return json_value([])


def _filter() -> ActivityFilter:
    for name in NAMES:
        paths.text(name)
    return read_filter()


def _method(selector: bytes, name: str = "") -> paths.Object:
    functions = standard_abis().functions.get(selector, ())
    method_name = functions[0].name if functions else name.partition("(")[0]
    return {"method_id": to_hex(selector), "name": method_name}


def _search(activity_filter: ActivityFilter) -> paths.Object:
    """Return the methods and tokens of a filter under their names."""
    methods = [_method(data(selector)) for selector in activity_filter.methods or ()]
    chosen = activity_filter.tokens
    token_addresses = {*(chosen.included or ()), *chosen.excluded} - {NATIVE}
    records = tokens.records_of(reader(), [data(address) for address in token_addresses])
    return {
        "methods": {m["method_id"]: m["name"] for m in methods if m["name"]},
        "tokens": {o["address_hash"]: o for o in map(token_object, records.values())},
    }


def activity_objects(activities: Sequence[Activity]) -> list[paths.Object]:
    parties = ("fromAddress", "toAddress", "contractAddress")
    objects = AddressObjects(a.record.get(party) for a in activities for party in parties)
    token_objects = TokenObjects(a.record["tokenAddress"] for a in activities if a.rank == TRANSFER)
    add_methods(reader(), [a.context for a in activities], are_calls=True)
    transactions = [a.record for a in activities if a.rank not in (INTERNAL, TRANSFER)]
    failed = decoded_objects.failures(transactions)
    fees = _fees(activities)
    return [
        _activity(activity, fee, objects, token_objects)
        | {"status": (failed.get(activity.transaction_hash) or SUCCEEDED)["result"]}
        for activity, fee in zip(activities, fees, strict=True)
    ]


def _fees(activities: Sequence[Activity]) -> list[str]:
    """Return the fee of each transaction at its first row, and 0 at the others."""
    before = read_place()
    seen = set() if before is None else {before[:2]}
    fees = []
    for activity in activities:
        transaction = activity.place[:2]
        is_first = transaction not in seen and activity.rank != INTERNAL
        seen.add(transaction)
        fees.append(activity.context["fee"] if is_first else "0")
    return fees


def _activity(
    activity: Activity, fee: str, objects: AddressObjects, token_objects: TokenObjects
) -> paths.Object:
    record, is_transfer = activity.record, activity.rank == TRANSFER
    created, to = record.get("contractAddress"), record["toAddress"]
    if activity.rank == INTERNAL and CREATION in activity.kinds:
        created, to = to, None
    # What a move called comes before what it paid.
    kind = next((k for k in (CREATION, INTERACTION) if k in activity.kinds), COIN_TRANSFER)
    calls = is_transfer or INTERACTION in activity.kinds
    method = activity.context.get("method") if calls and activity.rank != INTERNAL else None
    return {
        "hash": activity.transaction_hash,
        "type": paths.STANDARDS[record["tokenType"]] if is_transfer else kind,
        "method": method,
        "from": objects.of(record["fromAddress"]),
        "to": objects.of_optional(to),
        "created_contract": objects.of_optional(created),
        "value": None if is_transfer else record["value"],
        "total": transfer_total(record) if is_transfer else None,
        "token": token_objects.of(record["tokenAddress"]) if is_transfer else None,
        "timestamp": paths.timestamp(record["timestamp"]),
        "fee": fee,
        **activity.indexes(),
    }


def _csv_row(activity: Activity, item: paths.Object) -> list[csv_text.Cell]:
    total, token = item["total"] or {}, item["token"] or {}
    addresses = (item[name] and item[name]["hash"] for name in ("from", "to", "created_contract"))
    method = None if activity.rank == INTERNAL else activity.context["methodId"]
    moved = (total.get(name) for name in ("value", "token_id"))
    symbol = csv_text.text(token.get("symbol") or "")
    return [
        item["hash"],
        item["type"],
        method,
        item["timestamp"],
        *addresses,
        item["value"],
        token.get("address_hash"),
        total.get("decimals"),
        symbol,
        *moved,
        item["block_number"],
        item["fee"],
        *[None] * 3,  # prices
    ]
