"""Lists of transactions, of internal transactions and of token transfers, as several paths have
them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson

from scan.extensions.blockscout import address_and_token_objects, lists
from scan.extensions.blockscout.transaction_objects import (
    internal_objects,
    internal_position,
    kinds_of,
    shown_type,
    transaction_objects,
    transaction_position,
)
from scan.extensions.internal_transfers import views as internal_transfers
from scan.hex import data
from scan.http.requests import Response, reader
from scan.queries import tokens
from scan.queries.pages import Page, Window, filtered_page

MOST_COMPARED = 1000  # rows of a page of which those with a property are shown
INTERNAL_TYPES = ("call", "create", "create2", "reward", "selfdestruct", "stop", "invalid")
CALL_TYPES = ("call", "callcode", "delegatecall", "staticcall", "invalid")

Chooses = Callable[[list[lists.Record]], list[lists.Record]]


def transactions_response(window: Window | None = None, **filters: Any) -> Response:
    read = partial(filtered_page, reader(), "transactions", filters)
    records, last = lists.read_page("transactions", read, window)
    return lists.list_response(transaction_objects(records), last and transaction_position(last))


def sorted_transactions_response(window: Window, field: str, **filters: Any) -> Response | None:
    """Return transactions by an amount of theirs; None where there are more than MOST_COMPARED."""
    whole = filtered_page(reader(), "transactions", filters, Window(MOST_COMPARED, 0))
    if whole.next is not None:
        return None
    records: list[lists.Record] = orjson.loads(whole.data)
    records.sort(key=lambda record: int(record[field]), reverse=window.direction == "desc")
    after = {name: lists.number(name) for name in lists.PLACES["transactions"]}
    places = [transaction_position(record) for record in records]
    first = places.index(after) + 1 if after in places else 0
    shown = records[first : first + window.limit]
    following = places[first + window.limit - 1] if len(records) > first + window.limit else None
    return lists.list_response(transaction_objects(shown), following)


def transactions_of_kind_response(window: Window, kind: str) -> Response:
    """Return the transactions of a window that are of a kind."""

    def choose(records: list[lists.Record]) -> list[lists.Record]:
        kinds = kinds_of(records)
        return [record for record in records if kind in kinds[record["hash"]]]

    read = partial(filtered_page, reader(), "transactions", {})
    records, last = _chosen_page("transactions", read, window, choose)
    return lists.list_response(transaction_objects(records), last and transaction_position(last))


def _chosen_page(
    entity: str, read: Callable[[Window], Page], window: Window, choose: Chooses
) -> tuple[list[lists.Record], lists.Record | None]:
    """Return a page as read_page() does, of the rows that `choose` leaves of so many as are
    compared at once: it may have fewer than others where more follow."""
    records, last = lists.read_page(entity, read, window._replace(limit=MOST_COMPARED))
    chosen = choose(records)
    shown = chosen[: window.limit]
    return shown, shown[-1] if len(shown) < len(chosen) else last


def internal_transactions_response(
    window: Window | None = None, *, by_type: bool = False, **filters: Any
) -> Response:
    """Return internal transactions; `by_type`: the path takes types of calls, too."""
    choose, pages = _chosen_internal(by_type=by_type), list[Page]()

    def read(window: Window) -> Page:
        pages.append(internal_transfers.page(reader(), window, **filters))
        return pages[0]

    if choose is None:
        records, last = lists.read_page("internal_transfers", read, window)
    else:
        window = window or lists.first_window()
        records, last = _chosen_page("internal_transfers", read, window, choose)
    meta = _meta(is_pending=bool(pages[0].untraced_blocks))
    following = last and internal_position(last)
    return lists.list_response(internal_objects(records), following, meta=meta)


def _chosen_internal(*, by_type: bool) -> Chooses | None:
    """Return what chooses among internal transactions by the request's parameters, None where it
    has none of them."""
    with_zero = lists.flag("include_zero_value", default=True)
    type_ = lists.one_of("internal_type", INTERNAL_TYPES) if by_type else None
    call = lists.one_of("call_type", CALL_TYPES) if by_type else None
    if with_zero and type_ is None and call is None:
        return None
    return lambda records: [
        record
        for record in records
        if (with_zero or record["value"] != "0")
        and type_ in (None, shown_type(record))
        and (call is None or (call, shown_type(record)) == ("call", "call"))
    ]


def internal_of_transaction_response(record: lists.Record, direction: str) -> Response:
    choose = _chosen_internal(by_type=False) or list
    lists.require_block(record["blockNumber"])
    window = lists.first_window()._replace(
        direction=direction, position=lists.position("internal_transfers", record["blockNumber"])
    )
    page, is_traced = internal_transfers.transaction_page(reader(), data(record["hash"]), window)
    records = orjson.loads(page.data or "[]")
    meta = _meta(is_pending=not is_traced)
    following = internal_position(records[-1]) if page.next else None
    return lists.list_response(internal_objects(choose(records)), following, meta=meta)


def _meta(*, is_pending: bool) -> Mapping[str, Any]:
    """Return whether all rows are there: 2 stands for traces that are still to come."""
    message = internal_transfers.without_traces(reader()) if is_pending else None
    return {"status": 2 if is_pending else 1, "message": message}


def transfers_response(types: address_and_token_objects.TokenTypes, **filters: Any) -> Response:
    read = partial(tokens.transfers_page, reader(), type=types.only, **filters)
    records, last = lists.read_page("token_transfers", read)
    shown = address_and_token_objects.transfer_objects(types.of(records, "tokenType"))
    return lists.list_response(shown, last and address_and_token_objects.transfer_position(last))
