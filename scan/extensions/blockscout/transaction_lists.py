"""Transactions and internal transactions as Blockscout shows them, with the fields that only chains
of some forms have; and lists of them and of token transfers, as several paths have them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from scan.extensions.blockscout import address_and_token_objects, decoded_objects, paths
from scan.extensions.blockscout.address_and_token_objects import AddressObjects
from scan.extensions.blockscout.paths import NAMES, Object, renamed
from scan.extensions.decoding.decoding import (
    Called,
    add_methods,
    called_code,
    called_contracts,
    contexts,
    inputs,
)
from scan.extensions.traces import views as internal_transfers
from scan.extensions.traces.traces import is_creation
from scan.hex import data, to_hex
from scan.http.current_request import reader
from scan.http.json_responses import Response
from scan.queries import blocks, tokens, transactions
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Page, Window

OF_OP_STACK = NAMES["op_stack"]


def _chain_fields(record: paths.Record, context: paths.Record) -> Object:
    """Return the fields of transactions with blobs, and of those of the OP Stack."""
    has_blobs = bool(record["blobVersionedHashes"])
    fields: Object = renamed("fields_of_blobs", record | context) if has_blobs else {}
    source, fee_parts = record.get("chainFields", {}), record.get("feeParts", {})
    if fee_parts.get("l1") is not None:
        fields["l1_fee"] = fee_parts["l1"]
        fields |= {name: source[field] for field, name in OF_OP_STACK.items() if field in source}
        if fee_parts["operator"] is not None:
            fields["operator_fee"] = fee_parts["operator"]
    return fields


# Bytes in lists: anybody can send transactions that would fill a page with megabytes.
LONGEST_INPUT = 16_384
MOST_COMPARED = 1000  # rows of a page of which those with a property are shown
BLOB_TYPE, DELEGATING_TYPE = 3, 4
# Of transactions that name one price, Blockscout says no parts of the fee.
NO_FEE_PARTS = {"priority_fee": None, "transaction_burnt_fee": None}
AUTHORIZATION_FAULTS = NAMES["authorization_faults"]


class ListBounds:
    """The bounds of one list."""

    input_bytes, compared = LONGEST_INPUT, MOST_COMPARED


def transaction_objects(records: Sequence[paths.Record]) -> list[Object]:
    """Return the objects of a list; inputs are null where they are long, or the node does not give
    them."""
    context_of = contexts(reader(), (record["hash"] for record in records))
    contents = {
        transaction_hash: content
        for transaction_hash, content in inputs(reader(), records).items()
        if len(content) <= reader().sources.get(ListBounds).input_bytes
    }
    objects = AddressObjects(address for record in records for address in _parties(record))
    contracts = called_contracts(reader(), records)
    add_methods(reader(), records, contracts)
    kinds = kinds_of(records, contracts)
    failed = decoded_objects.failures(records)
    newest = blocks.newest_number(reader())
    return [
        transaction_object(
            record,
            context_of[record["hash"]],
            objects,
            kinds=kinds[record["hash"]],
            confirmations=blocks.confirmations(record["blockNumber"], newest),
            content=contents.get(record["hash"]),
        )
        | failed.get(record["hash"], {})
        for record in records
    ]


def transaction_position(record: paths.Record) -> paths.Position:
    return renamed("transaction_position", record)


def transaction_addresses(record: paths.Record) -> AddressObjects:
    return AddressObjects(_parties(record))


def _parties(record: paths.Record) -> tuple[str | None, ...]:
    return record["fromAddress"], record["toAddress"], record["contractAddress"]


def _outcome(record: paths.Record) -> Object:
    """Return the status and the result of a transaction; why it failed replaces the latter."""
    status = transactions.outcome(record)
    return {
        "status": status,
        "result": "awaiting_internal_transactions" if status is None else "success",
    }


def transaction_object(
    record: paths.Record,
    context: paths.Record,
    objects: AddressObjects,
    *,
    kinds: Sequence[str],
    confirmations: int,
    content: bytes | None,
) -> Object:
    """Return the object of a transaction that succeeded, as lists show it: without decoded input
    and transfers of tokens."""
    return {
        **renamed("transaction", context | record, address=objects.of_optional),
        **renamed("outcome", _outcome(record) | {"confirmations": confirmations}),
        "fee": {"type": "actual", "value": record["fee"]},
        "raw_input": None if content is None else to_hex(content),
        "method": record.get("method"),
        "transaction_types": kinds,
        "authorization_list": [],
        "fhe_operations_count": 0,
        **_chain_fields(record, context),
        **({} if record["maxFeePerGas"] is not None else NO_FEE_PARTS),
    }


def kinds_of(
    records: Sequence[paths.Record], contracts: Called | None = None
) -> dict[str, list[str]]:
    """Return what transactions did, in Blockscout's words, by their hashes; `contracts` are
    their called_contracts(), where those have been read."""
    created = [record["contractAddress"] for record in records if record["contractAddress"]]
    token_addresses = tokens.records_of(reader(), [data(address) for address in created])
    [moved] = reader().row(
        "queries/transactions_list_with_transfers",
        numbers=[record["blockNumber"] for record in records],
        indexes=[record["transactionIndex"] for record in records],
    )
    kinds = {}
    calls = called_code(reader(), records, contracts)
    for place, (record, is_call) in enumerate(zip(records, calls, strict=True), 1):
        applies = {
            "token_transfer": place in moved,
            "coin_transfer": record["value"] != "0",
            "contract_call": is_call,
            "contract_creation": transactions.creates_contract(record),
            "token_creation": record["contractAddress"] in token_addresses,
            "blob_transaction": record["type"] == BLOB_TYPE,
            "set_code_transaction": record["type"] == DELEGATING_TYPE,
        }
        kinds[record["hash"]] = [kind for kind, is_given in applies.items() if is_given]
    return kinds


def move_kinds(
    records: Sequence[paths.Record], contexts_of_moves: Sequence[paths.Record]
) -> list[list[str]]:
    """Return the kinds that advanced filters have for moves of the coin, of transactions or of
    internal ones, whose inputs are not indexed."""
    called = [None if _creates(record) else record["toAddress"] for record in records]
    moves = [
        {**context, "toAddress": address, "methodId": record.get("methodId")}
        for record, context, address in zip(records, contexts_of_moves, called, strict=True)
    ]
    calls = called_code(reader(), moves)
    kinds = []
    for record, address, is_call in zip(records, called, calls, strict=True):
        applies = {
            "coin_transfer": record["value"] != "0",
            "contract_interaction": is_call,
            "contract_creation": address is None,
        }
        kinds.append([kind for kind, is_given in applies.items() if is_given])
    return kinds


def _creates(record: paths.Record) -> bool:
    """Return whether an internal transaction creates a contract."""
    return "transferIndex" in record and is_creation(record["type"].upper())


def internal_objects(records: Sequence[paths.Record]) -> list[Object]:
    context_of = paths.contexts_of(records)
    objects = AddressObjects(r[side] for r in records for side in ("fromAddress", "toAddress"))
    return [
        {
            **renamed("internal_transaction", record, address=objects.of_optional),
            "type": shown_type(record),
            "transaction_index": context_of[record["transactionHash"]]["transactionIndex"],
            "to": objects.of_optional(to),
            "created_contract": objects.of_optional(created),
        }
        for record, (to, created) in zip(records, map(parties_of, records), strict=True)
    ]


def internal_position(record: paths.Record) -> paths.Position:
    [context] = paths.contexts_of([record]).values()
    return renamed("internal_position", context | record)


def shown_type(record: paths.Record) -> str:
    """Return the type of an internal transaction: what a log alone shows was a call."""
    return "call" if record["source"] == "log" else str(record["type"])


def parties_of(record: paths.Record) -> tuple[str | None, str | None]:
    """Return whom an internal transaction calls, and the contract that it creates."""
    to = record["toAddress"]
    return (None, to) if is_creation(record["type"].upper()) else (to, None)


def authorization_object(record: Mapping[str, Any]) -> Object:
    """Return an authorization; its status is null where Blockscout has no word for it."""
    return {
        **renamed("authorization", record),
        "r": str(int(record["r"], 16)),
        "s": str(int(record["s"], 16)),
        "status": "ok" if record["valid"] else AUTHORIZATION_FAULTS.get(record["invalidReason"]),
    }


INTERNAL_TYPES = ("call", "create", "create2", "reward", "selfdestruct", "stop", "invalid")
CALL_TYPES = ("call", "callcode", "delegatecall", "staticcall", "invalid")

Chooses = Callable[[list[paths.Record]], list[paths.Record]]


def received(key: bytes) -> dict[str, bytes]:
    """Return the filter of the transactions that an address received, the one that created it among
    them: all of an address that sent none, as no contract does but on test nodes."""
    sent = filtered_page(reader(), "transactions", {"from": key}, Window(1, 0))
    return {"to": key} if sent.count else {"address": key}


def transactions_response(
    window: Window | None = None, kind: str | None = None, **filters: Any
) -> Response:
    """Return transactions, of all kinds or of one."""

    def choose(records: list[paths.Record]) -> list[paths.Record]:
        kinds = kinds_of(records)
        return [record for record in records if kind in kinds[record["hash"]]]

    read = partial(filtered_page, reader(), "transactions", filters)
    records, last = _page("transactions", read, window, choose if kind else None)
    return paths.list_response(transaction_objects(records), last and transaction_position(last))


def sorted_transactions_response(window: Window, field: str, **filters: Any) -> Response | None:
    """Return transactions by an amount of theirs; None where there are more than MOST_COMPARED."""
    most = reader().sources.get(ListBounds).compared
    whole = filtered_page(reader(), "transactions", filters, Window(most, 0))
    if whole.next is not None:
        return None
    records: list[paths.Record] = orjson.loads(whole.data)
    records.sort(key=lambda record: int(record[field]), reverse=window.direction == "desc")
    after = {name: paths.number(name) for name in paths.PLACES["transactions"]}
    places = [transaction_position(record) for record in records]
    first = places.index(after) + 1 if after in places else 0
    listed = records[first : first + window.limit]
    following = places[first + window.limit - 1] if len(records) > first + window.limit else None
    return paths.list_response(transaction_objects(listed), following)


def _page(
    entity: str, read: Callable[[Window], Page], window: Window | None, choose: Chooses | None
) -> tuple[list[paths.Record], paths.Record | None]:
    """Return a page as read_page() does, of all rows or of those that `choose` leaves of so many as
    are compared at once: it may have fewer than others where more follow."""
    if choose is None:
        return paths.read_page(entity, read, window)
    window = window or paths.first_window()
    most = reader().sources.get(ListBounds).compared
    records, last = paths.read_page(entity, read, window._replace(limit=most))
    chosen = choose(records)
    listed = chosen[: window.limit]
    return listed, listed[-1] if len(listed) < len(chosen) else last


def internal_transactions_response(
    window: Window | None = None, *, by_type: bool = False, **filters: Any
) -> Response:
    """Return internal transactions; `by_type`: the path takes types of calls, too."""
    choose, pages = _chosen_internal(by_type=by_type), list[Page]()

    def read(window: Window) -> Page:
        pages.append(internal_transfers.page(reader(), window, **filters))
        return pages[0]

    records, last = _page("internal_transfers", read, window, choose)
    meta = _meta(is_pending=bool(pages[0].untraced_blocks))
    following = last and internal_position(last)
    return paths.list_response(internal_objects(records), following, meta=meta)


def _chosen_internal(*, by_type: bool) -> Chooses | None:
    """Return what chooses among internal transactions by the request's parameters, None where it
    has none of them."""
    with_zero = paths.flag("include_zero_value", default=True)
    type_ = paths.one_of("internal_type", INTERNAL_TYPES) if by_type else None
    call = paths.one_of("call_type", CALL_TYPES) if by_type else None
    if with_zero and type_ is None and call is None:
        return None
    return lambda records: [
        record
        for record in records
        if (with_zero or record["value"] != "0")
        and type_ in (None, shown_type(record))
        and (call is None or (call, shown_type(record)) == ("call", "call"))
    ]


def internal_of_transaction_response(record: paths.Record, direction: str) -> Response:
    choose = _chosen_internal(by_type=False) or list
    paths.require_block(record["blockNumber"])
    window = paths.first_window()._replace(
        direction=direction, position=paths.position("internal_transfers", record["blockNumber"])
    )
    page, is_traced = internal_transfers.transaction_page(reader(), data(record["hash"]), window)
    records = orjson.loads(page.data or "[]")
    meta = _meta(is_pending=not is_traced)
    following = internal_position(records[-1]) if page.next else None
    return paths.list_response(internal_objects(choose(records)), following, meta=meta)


def _meta(*, is_pending: bool) -> Mapping[str, Any]:
    """Return whether all rows are there: 2 stands for traces that are still to come."""
    message = internal_transfers.without_traces(reader()) if is_pending else None
    return {"status": 2 if is_pending else 1, "message": message}


def transfers_response(types: address_and_token_objects.TokenTypes, **filters: Any) -> Response:
    read = partial(tokens.transfers_page, reader(), type=types.only, **filters)
    records, last = paths.read_page("token_transfers", read)
    items = address_and_token_objects.transfer_objects(types.of(records, "tokenType"))
    return paths.list_response(items, last and address_and_token_objects.transfer_position(last))
