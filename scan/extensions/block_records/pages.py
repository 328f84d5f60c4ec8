"""Sections and tabs of what blocks have besides transactions and logs: authorizations, blobs,
requests and messages; /earnings, and the section of a block with what its producer earned.
"""

import json

from flask import Blueprint, Response

from scan.extensions.block_records.api import page_of
from scan.http.requests import reader
from scan.pages.filtered_lists import Field, filtered_list
from scan.pages.hooks import AddressTab, BlockSection, Pages, Section, Shown, TransactionSection
from scan.pages.records import Record, names_of
from scan.pages.tabs import list_of_address
from scan.queries.pages import Window, filtered_page


def transaction_authorizations(transaction: Record) -> Shown:
    """Name the authorizations of a transaction, whose accounts its section shows."""
    return Shown({}, records=transaction.get("authorizations", ()))


def blobs_of(block: Record, window: Window) -> dict[str, list[Record]]:
    """Return the blobs of a block that its section shows."""
    if "blobCount" not in block:
        return {"blobs": []}
    return {"blobs": json.loads(filtered_page(reader(), "blobs", {}, window).data)}


blueprint = Blueprint("pages_earnings", __name__)
FIELDS = (
    Field("miner", "Fee recipient", "address"),
    Field("from", "Since (UTC)", "day"),
    Field("to", "Until (UTC)", "day"),
)


@blueprint.get("/earnings")
def list_earnings() -> Response:
    shown = filtered_list(
        "/earnings", "/stats/earnings", FIELDS, page_of, paging=("limit", "cursor")
    )
    return shown.response("earnings.html", shown=shown, names=names_of(shown.records))


def requests_of(block: Record, window: Window) -> dict[str, list[Record]]:
    """Return the requests of a block that its section shows."""
    if not block.get("requestCount"):
        return {"execution_requests": []}
    page = filtered_page(reader(), "execution_requests", {}, window)
    return {"execution_requests": json.loads(page.data)}


def transaction_messages(transaction: Record) -> Shown:
    """Name the messages of a transaction, whose senders its section shows."""
    return Shown({}, records=transaction.get("messagesToL1", ()))


HOOKS = (
    Pages(
        sections=(
            TransactionSection(
                {"transaction": "transaction_authorizations.html"}, transaction_authorizations
            ),
        ),
        tabs=(
            AddressTab(
                "delegations",
                "Authorizations",
                100,
                template="address_authorizations.html",
                read=list_of_address(
                    "authorizations",
                    "authority",
                    "/authorizations?authority={address}",
                    tab="delegations",
                ),
                list="authorizations_by_authority",
            ),
        ),
    ),
    Pages(sections=(BlockSection({"block": "block_blobs.html"}, blobs_of),)),
    Pages(
        blueprints=(blueprint,),
        menu=(("Chain", "/earnings", "Fee recipients"),),
        sections=(Section({"block": "block_earnings.html"}),),
    ),
    Pages(sections=(BlockSection({"block": "block_execution_requests.html"}, requests_of),)),
    Pages(
        sections=(
            TransactionSection(
                {"transaction_events": "transaction_messages.html"}, transaction_messages
            ),
        ),
        tabs=(
            AddressTab(
                "messages",
                "Messages to L1",
                90,
                template="address_messages.html",
                read=list_of_address(
                    "messages_to_l1", "sender", "/messages-to-l1?sender={address}", tab="messages"
                ),
                list="messages_to_l1_by_sender",
            ),
        ),
    ),
)
