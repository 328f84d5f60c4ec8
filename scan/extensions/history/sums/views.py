"""Sums of lists by month: /transactions/sums, /transfers/sums and /internal/sums of an address, and
/tokens/:address/transfers/sums, in the API and as pages at the same paths."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.history.sums import monthly_sums
from scan.hex import to_hex
from scan.http import list_formats
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response
from scan.http.list_responses import list_response
from scan.pages import filtered_lists, hooks
from scan.pages.records import address_of, names_of
from scan.queries import entities, filter_values, holdings, list_pages, tokens
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

blueprint = Blueprint("sums", __name__)


class Summed(NamedTuple):
    """A list that is summed, of an address or a token: the name of these in paths of pages and of
    the API, the filter that a path has, the last part of the list's path, its entity."""

    parent: str
    collection: str
    key: str
    rows: str
    entity: str


SUMMED = (
    Summed("address", "addresses", "address", "transactions", "transactions"),
    Summed("address", "addresses", "address", "transfers", "token_transfers"),
    Summed("address", "addresses", "address", "internal", "internal_transfers"),
    Summed("token", "tokens", "tokenAddress", "transfers", "token_transfers"),
)
# The kinds of CSV files of sums, by entity.
FILES = {
    "transactions": "transactionSums",
    "token_transfers": "transferSums",
    "internal_transfers": "internalTransferSums",
}


def list_sums(summed: Summed, address: str) -> Response:
    """Return the sums of a list by month."""
    if summed.key == "tokenAddress":
        tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    keys = [name for name in filter_values.FILTER_KEYS[summed.entity] if name != summed.key]
    arguments = query_arguments(*keys, *entities.RANGE, list_formats.PARAMETER)
    filters = {**arguments, summed.key: address}
    party = parameters.optional_address(filters, "address")

    def read(window: list_pages.Window) -> list_pages.Page:
        page = monthly_sums.page(reader(), summed.entity, window, filters, party)
        return monthly_sums.valued_page(page)

    def of_months(window: list_pages.Window) -> list_pages.Page:
        # Without the sums of all rows, which a spreadsheet would add to the months'.
        page = read(window)
        sums = [record for record in orjson.loads(page.data) if record["month"] != "all"]
        return replace(page, data=orjson.dumps(sums).decode(), count=len(sums))

    return list_response(
        "sums", arguments, read, kind=FILES[summed.entity], address=party, read_for_file=of_months
    )


for of_list in SUMMED:
    path = f"/{of_list.collection}/<address>/{of_list.rows}/sums"
    blueprint.add_url_rule(path, path, partial(list_sums, of_list))


page_views = Blueprint("pages_sums", __name__)


def show_sums(summed: Summed, address: str) -> Response:
    """Return the page of a list's sums by month."""
    key = address_of(address)
    shown_address = to_hex(key)
    parent = f"/{summed.parent}/{shown_address}"

    def read(reader: Reader, entity: str, window: Window, values: Mapping[str, str]) -> Page:
        of = key if summed.key == "address" else parameters.optional_address(values, "address")
        return monthly_sums.page(reader, entity, window, values, of)

    listed = filtered_lists.entity_list(
        summed.entity,
        f"{parent}/{summed.rows}/sums",
        f"/{summed.collection}/{shown_address}/{summed.rows}/sums",
        fixed={summed.key: shown_address},
        paging=(),
        page_of=read,
    )
    names = names_of(listed.records, shown_address)
    return listed.response(
        "sums.html",
        shown=listed,
        names=names,
        address=shown_address,
        parent=parent,
        rows=summed.rows,
        noun=summed.entity.removesuffix("s").replace("_", " "),
        prices=holdings.unit_prices(reader()),
    )


for of_list in SUMMED:
    path = f"/{of_list.parent}/<address>/{of_list.rows}/sums"
    page_views.add_url_rule(path, path, partial(show_sums, of_list))


HOOKS = (
    Api(blueprints=(blueprint,)),
    hooks.Pages(blueprints=(page_views,), sections=(hooks.Section({"list": "list_sums.html"}),)),
)
