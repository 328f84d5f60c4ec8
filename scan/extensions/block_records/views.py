"""What blocks have besides transactions and logs: authorizations (EIP-7702), by which accounts
delegate to the code of a contract; blobs; requests to the consensus layer (EIP-7685); messages to
L1; and what producers earned by day, at /stats/earnings and on the page /earnings."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.block_records.rows import ExecutionRequest, requests_hash, requests_in
from scan.hex import data, to_hex
from scan.http.request_state import PARAMETER
from scan.http.requests import (
    Response,
    add_list,
    json_value,
    list_response,
    query_arguments,
    reader,
)
from scan.pages import filtered_lists, tabs
from scan.pages.hooks import AddressTab, BlockSection, Pages, Section, Shown, TransactionSection
from scan.pages.records import Record
from scan.queries import blocks, cursors, hooks, pages, transactions
from scan.queries.reader import Reader


def page(reader: Reader, window: pages.Window, **filters: pages.Value | None) -> pages.Page:
    """Return a page; a transaction's authorizations are read from its block alone."""
    blocks = 0, parameters.BIGINT_MAX
    transaction_hash = filters.get("transaction")
    if isinstance(transaction_hash, bytes):
        record = transactions.get(reader, transaction_hash)
        block = parameters.BIGINT_MAX if record is None else json.loads(record)["blockNumber"]
        blocks = block, block
    return pages.filtered_page(reader, "authorizations", filters, window, blocks=blocks)


MOST_DAYS = 31  # whose blocks one page reads; of one producer, an index has them apart
MOST_DAYS_OF_MINER = 366


def earnings_page(window: pages.Window, arguments: Mapping[str, str]) -> pages.Page:
    """Return a page of days between two dates (UTC), both included, the newest first, by the
    parameters of a request. It may end before it is full; its cursor goes on. Raises
    InvalidParameter."""
    miner = parameters.optional_address(arguments, "miner")
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    filters = {"miner": miner, "first": first, "last": last}
    kinds = (cursors.ORDINAL, cursors.ORDINAL, cursors.ADDRESS)
    traversal = window.traversal("earnings", filters, kinds, has_blocks=False)
    after_day, after_blocks, after_miner = traversal.position(3)
    data, count, *following = reader().row(
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
    return pages.Page(data, count, None, traversal.next(day and (day, int(blocks), bytes(address))))


MOST_DEPOSITS = 8192  # of a block (EIP-6110)
MOST_QUEUED = 1000  # of each type: in a longer queue the fee would exceed all coin there is


class TakenRequests(NamedTuple):
    """Records of the requests that a block included; None where logs do not show them."""

    block_number: int
    requests_hash: bytes | None  # of its header
    records: list[Any] | None


def taken_by(reader: Reader, number_or_hash: int | bytes) -> TakenRequests | None:
    """Return the requests of a block by its number or hash; None where there is no such block.

    Requests are returned only where their hash is the one in the block's header.
    """
    number, hash_, rows = reader.row(
        "queries/execution_requests_get_taken",
        number=number_or_hash if isinstance(number_or_hash, int) else None,
        hash=number_or_hash if isinstance(number_or_hash, bytes) else None,
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


api_views = Blueprint("block_records", __name__)
add_list(api_views, "/authorizations", "authorizations")


add_list(api_views, "/blobs", "blobs")


@api_views.get("/stats/earnings")
def list_earnings() -> Response:
    arguments = query_arguments("miner", "from", "to", "limit", "cursor", PARAMETER)
    return list_response("earnings", arguments, lambda window: earnings_page(window, arguments))


add_list(api_views, "/execution-requests", "execution_requests")


@api_views.get("/blocks/<block>/execution-requests")
def list_execution_requests_of_block(block: str) -> Response:
    """Return the requests that a block included, which may be of older transactions."""
    query_arguments()
    number_or_hash = parameters.block_number_or_hash(block)
    taken = taken_by(reader(), number_or_hash)
    if taken is None:
        raise blocks.not_indexed(reader(), number_or_hash)
    hash_ = taken.requests_hash
    shown = {
        "blockNumber": taken.block_number,
        "requestsHash": None if hash_ is None else to_hex(hash_),
        "requests": taken.records,
    }
    return json_value(shown)


add_list(api_views, "/messages-to-l1", "messages_to_l1")


def transaction_authorizations(transaction: Record) -> Shown:
    """Name the authorizations of a transaction, whose accounts its section shows."""
    return Shown({}, records=transaction.get("authorizations", ()))


def blobs_of(block: Record, window: pages.Window) -> dict[str, list[Record]]:
    """Return the blobs of a block that its section shows."""
    if "blobCount" not in block:
        return {"blobs": []}
    return {"blobs": json.loads(pages.filtered_page(reader(), "blobs", {}, window).data)}


page_views = Blueprint("pages_block_records", __name__)
FIELDS = (
    filtered_lists.Field("miner", "Fee recipient", "address"),
    filtered_lists.Field("from", "Since (UTC)", "day"),
    filtered_lists.Field("to", "Until (UTC)", "day"),
)


@page_views.get("/earnings")
def show_earnings() -> Response:
    earnings_list = filtered_lists.filtered_list(
        "/earnings", "/stats/earnings", FIELDS, earnings_page, paging=("limit", "cursor")
    )
    return earnings_list.show("earnings.html")


def requests_of(block: Record, window: pages.Window) -> dict[str, list[Record]]:
    """Return the requests of a block that its section shows."""
    if not block.get("requestCount"):
        return {"execution_requests": []}
    page = pages.filtered_page(reader(), "execution_requests", {}, window)
    return {"execution_requests": json.loads(page.data)}


def transaction_messages(transaction: Record) -> Shown:
    """Name the messages of a transaction, whose senders its section shows."""
    return Shown({}, records=transaction.get("messagesToL1", ()))


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Entities(pages={"authorizations": page}),
    Pages(
        blueprints=(page_views,),
        menu=(("Chain", "/earnings", "Fee recipients"),),
        sections=(
            TransactionSection(
                {"transaction": "transaction_authorizations.html"}, transaction_authorizations
            ),
            BlockSection({"block": "block_blobs.html"}, blobs_of),
            Section({"block": "block_earnings.html"}),
            BlockSection({"block": "block_execution_requests.html"}, requests_of),
            TransactionSection(
                {"transaction_events": "transaction_messages.html"}, transaction_messages
            ),
        ),
        tabs=(
            AddressTab(
                "delegations",
                "Authorizations",
                100,
                template="address_authorizations.html",
                read=tabs.list_of_address(
                    "authorizations",
                    "authority",
                    "/authorizations?authority={address}",
                    tab="delegations",
                ),
                list="authorizations_by_authority",
            ),
            AddressTab(
                "messages",
                "Messages to L1",
                90,
                template="address_messages.html",
                read=tabs.list_of_address(
                    "messages_to_l1", "sender", "/messages-to-l1?sender={address}", tab="messages"
                ),
                list="messages_to_l1_by_sender",
            ),
        ),
    ),
)
