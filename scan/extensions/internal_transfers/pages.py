"""/internal-transfers, the tab of an address, and a section of a transaction's page."""

import json

from flask import Blueprint, Response

from scan.extensions.internal_transfers import queries as internal_transfers
from scan.http.requests import reader
from scan.pages.filtered_lists import entity_list
from scan.pages.hooks import AddressTab, Pages, Section, Shown, TransactionSection
from scan.pages.records import Record, hash_of, names_of
from scan.pages.tabs import list_of_address
from scan.queries.holdings import unit_prices
from scan.queries.pages import Window

MAX_SHOWN = 200

blueprint = Blueprint("pages_internal_transfers", __name__)


@blueprint.get("/internal-transfers")
def list_internal_transfers() -> Response:
    shown = entity_list("internal_transfers", "/internal-transfers", "/internal-transfers")
    return shown.response(
        "internal_transfers.html",
        shown=shown,
        names=names_of(shown.records),
        prices=unit_prices(reader()),
    )


def transaction_head(transaction: Record) -> Shown:
    """Return the internal transfers of a transaction; none where they are not known."""
    page, is_known = internal_transfers.transaction_page(
        reader(), hash_of(transaction["hash"]), Window(MAX_SHOWN, 0, "asc")
    )
    records = json.loads(page.data or "[]") if is_known else []
    addresses = [record[name] for record in records for name in ("fromAddress", "toAddress")]
    return Shown({"internal_transfers": records, "internal_count": page.total}, addresses)


HOOKS = Pages(
    blueprints=(blueprint,),
    menu=(("Chain", "/internal-transfers", "Internal transfers"),),
    sections=(
        Section({"block_facts": "block_internal_transfers.html"}),
        TransactionSection(
            {"transaction_events": "transaction_internal_transfers.html"}, transaction_head
        ),
    ),
    tabs=(
        AddressTab(
            "internal",
            "Internal",
            40,
            template="address_internal_transfers.html",
            read=list_of_address(
                "internal_transfers", "address", "/addresses/{address}/internal", tab="internal"
            ),
            counted="internal_transfers_by_address",
        ),
    ),
)
