"""Internal transfers, which is coin that contracts moved, as traces show it: GET
/api/v1/internal-transfers, those of an address and of a transaction, and the pages of these."""

import json
from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.database.lists import all_entities
from scan.errors import NotFound
from scan.extensions.traces import funding
from scan.extensions.traces.transaction_traces import TransactionTraces
from scan.http.current_request import query_arguments, reader
from scan.http.hooks import Service
from scan.http.json_responses import Response
from scan.http.list_responses import LISTED, add_list, list_response
from scan.pages import hooks, tabs
from scan.pages.filtered_lists import entity_list
from scan.pages.records import Record, hash_of
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import Form, filtered_page
from scan.queries.holdings import unit_prices
from scan.queries.hooks import Entities
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, *, form: Form = "api", **filters: Value | None) -> Page:
    """Return a page; raises NotFound where internal transfers are not indexed at all."""
    page = filtered_page(reader, "internal_transfers", filters, window, form=form)
    if page.untraced_blocks is None:
        raise NotFound(without_traces(reader))
    return page


def transaction_page(
    reader: Reader, transaction_hash: bytes, window: Window, form: Form = "api"
) -> tuple[Page, bool | None]:
    """Return a page, and whether they are all known: None if the transaction is not indexed.

    The ascending order is that of the calls; a range of blocks does not apply.
    """
    traversal = window.traversal("transaction's internal transfers", {"hash": transaction_hash})
    forms: dict[str, Any] = {"form": form} if all_entities()["internal_transfers"].forms else {}
    data, count, total, is_known, *edges = reader.row(
        "queries/internal_transfers_list_by_transaction",
        hash=transaction_hash,
        **forms,
        direction=window.direction,
        **window.page(traversal),
        seen_block=traversal.seen_block,
    )
    row = data, count, total, *edges
    return Page.from_row(reader, "internal_transfers", traversal, row), is_known


def without_traces(reader: Reader) -> str:
    """Return why internal transfers are not indexed, as far as this process knows."""
    if reader.sources.traces == "off":
        return "Internal transfers are not indexed, since SCAN_TRACES is off."
    return (
        "Internal transfers are not indexed, since the node gave no traces: they need"
        " SCAN_TRACES=auto and a node that offers debug_traceBlockByHash with callTracer,"
        " trace_block, or the steps of debug_traceTransaction. Contracts created by contracts may"
        " be missing, too."
    )


api_views = Blueprint("internal_transfers", __name__)
add_list(api_views, "/internal-transfers", "internal_transfers")
add_list(api_views, "/addresses/<address>/internal", "internal_transfers")
add_list(api_views, "/addresses/<address>/internal-transfers", "internal_transfers")


@api_views.get("/transactions/<transaction_hash>/internal")
def list_internal_transfers_of_transaction(transaction_hash: str) -> Response:
    key = parameters.hash32(transaction_hash)

    def read(window: Window) -> Page:
        page, is_known = transaction_page(reader(), key, window)
        if not reader().indexed(is_known):
            reason = without_traces(reader())
            raise NotFound(f"This transaction was indexed without traces. {reason}")
        return page

    return list_response("internalTransfers", query_arguments(*LISTED), read, direction="asc")


MAX_SHOWN = 200

page_views = Blueprint("pages_internal_transfers", __name__)


@page_views.get("/internal-transfers")
def list_internal_transfers() -> Response:
    transfer_list = entity_list("internal_transfers", "/internal-transfers", "/internal-transfers")
    return transfer_list.show("internal_transfers.html", prices=unit_prices(reader()))


def transaction_head(transaction: Record) -> hooks.Shown:
    """Return the internal transfers of a transaction; none where they are not known."""
    page, is_known = transaction_page(
        reader(), hash_of(transaction["hash"]), Window(MAX_SHOWN, 0, "asc")
    )
    records = json.loads(page.data or "[]") if is_known else []
    addresses = [record[name] for record in records for name in ("fromAddress", "toAddress")]
    return hooks.Shown({"internal_transfers": records, "internal_count": page.total}, addresses)


HOOKS = (
    Api(blueprints=(api_views,)),
    Service(make=lambda core: TransactionTraces(core.settings.traces)),
    Entities(pages={"internal_transfers": page}),
    hooks.Pages(
        blueprints=(page_views,),
        menu=(("Chain", "/internal-transfers", "Internal transfers"),),
        sections=(
            hooks.Section({"block_facts": "block_internal_transfers.html"}),
            hooks.AddressSection({"address": "address_funding.html"}, funding.funding_head),
            hooks.TransactionSection(
                {"transaction_events": "transaction_internal_transfers.html"}, transaction_head
            ),
        ),
        tabs=(
            hooks.AddressTab(
                "internal",
                "Internal",
                40,
                template="address_internal_transfers.html",
                read=tabs.list_of_address(
                    "internal_transfers", "address", "/addresses/{address}/internal", tab="internal"
                ),
                counted="internal_transfers_by_address",
            ),
        ),
    ),
)
