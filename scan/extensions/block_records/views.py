"""What blocks have besides transactions and logs: authorizations (EIP-7702), by which accounts
delegate to the code of a contract; blobs; requests to the consensus layer (EIP-7685); messages to
L1; and what producers earned by day, at /stats/earnings and on the page /earnings. Blobs, requests
and messages have pages of the paths of their lists, a blob one of its own."""

import json
from functools import partial

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.errors import NotFound
from scan.extensions.block_records import queries
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.list_formats import PARAMETER
from scan.http.list_responses import add_list, list_response
from scan.pages import filtered_lists, tabs
from scan.pages.hooks import AddressTab, BlockSection, Pages, Section, Shown, TransactionSection
from scan.pages.records import Record
from scan.queries import filtered_pages, hooks
from scan.queries.list_pages import Window

api_views = Blueprint("block_records", __name__)
add_list(api_views, "/authorizations", "authorizations")


add_list(api_views, "/blobs", "blobs")


@api_views.get("/stats/earnings")
def list_earnings() -> Response:
    arguments = query_arguments("miner", "from", "to", "limit", "cursor", PARAMETER)
    return list_response(
        "earnings", arguments, lambda window: queries.earnings_page(reader(), window, arguments)
    )


add_list(api_views, "/execution-requests", "execution_requests")


@api_views.get("/blocks/<block>/execution-requests")
def list_execution_requests_of_block(block: str) -> Response:
    query_arguments()
    return json_value(queries.included_requests(reader(), parameters.block_number_or_hash(block)))


add_list(api_views, "/messages-to-l1", "messages_to_l1")


def transaction_authorizations(transaction: Record) -> Shown:
    """Name the authorizations of a transaction, whose accounts its section shows."""
    return Shown({}, records=transaction.get("authorizations", ()))


def rows_of(entity: str, count: str, block: Record, window: Window) -> dict[str, list[Record]]:
    """Return the rows that a section of a block shows, of which its record has a `count`."""
    if not block.get(count):
        return {entity: []}
    return {entity: json.loads(filtered_pages.filtered_page(reader(), entity, {}, window).data)}


page_views = Blueprint("pages_block_records", __name__)
FIELDS = (
    filtered_lists.Field("miner", "Fee recipient", "address"),
    filtered_lists.Field("from", "Since (UTC)", "day"),
    filtered_lists.Field("to", "Until (UTC)", "day"),
)


@page_views.get("/earnings")
def show_earnings() -> Response:
    read = partial(queries.earnings_page, reader())
    earnings_list = filtered_lists.filtered_list(
        "/earnings", "/stats/earnings", FIELDS, read, paging=("limit", "cursor")
    )
    return earnings_list.show("earnings.html")


@page_views.get("/blobs")
def show_blobs() -> Response:
    return filtered_lists.entity_list("blobs", "/blobs", "/blobs").show("blobs.html")


@page_views.get("/blob/<versioned_hash>")
def show_blob(versioned_hash: str) -> Response:
    """Show a blob with the transactions that carried it. Raises NotFound."""
    name = to_hex(parameters.hash32(versioned_hash, "versioned_hash"))
    carried = filtered_lists.entity_list(
        "blobs", f"/blob/{name}", "/blobs", fixed={"versionedHash": name}
    )
    if not carried.total and not carried.chosen and carried.error is None:
        raise NotFound("No transaction that is indexed carried this blob.")
    return carried.show("blob.html", versioned_hash=name)


@page_views.get("/execution-requests")
def show_execution_requests() -> Response:
    path = "/execution-requests"
    shown = filtered_lists.entity_list("execution_requests", path, path)
    return shown.show("execution_requests.html")


@page_views.get("/messages-to-l1")
def show_messages_to_l1() -> Response:
    path = "/messages-to-l1"
    return filtered_lists.entity_list("messages_to_l1", path, path).show("messages_to_l1.html")


def transaction_messages(transaction: Record) -> Shown:
    """Name the messages of a transaction, whose senders its section shows."""
    return Shown({}, records=transaction.get("messagesToL1", ()))


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Entities(pages={"authorizations": queries.authorizations_page}),
    Pages(
        blueprints=(page_views,),
        menu=(
            ("Chain", "/earnings", "Fee recipients"),
            ("Chain", "/blobs", "Blobs"),
            ("Chain", "/execution-requests", "Requests to the consensus layer"),
            ("Chain", "/messages-to-l1", "Messages to L1"),
        ),
        sections=(
            TransactionSection(
                {"transaction": "transaction_authorizations.html"}, transaction_authorizations
            ),
            BlockSection({"block": "block_blobs.html"}, partial(rows_of, "blobs", "blobCount")),
            Section({"block": "block_earnings.html"}),
            BlockSection(
                {"block": "block_execution_requests.html"},
                partial(rows_of, "execution_requests", "requestCount"),
            ),
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
