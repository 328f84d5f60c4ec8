"""Pages of sums, at the paths of the API, and the link to them beside each of their lists."""

from collections.abc import Mapping

from flask import Blueprint, Response

from scan import parameters
from scan.extensions.history.sums import monthly_sums
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import entity_list
from scan.pages.hooks import Pages, Section
from scan.pages.records import address_of, names_of
from scan.queries import prices
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

blueprint = Blueprint("pages_sums", __name__)
# The entity and the rows' name by the last part of a list's path.
LISTS = {
    "transactions": ("transactions", "transaction"),
    "transfers": ("token_transfers", "token transfer"),
    "internal": ("internal_transfers", "internal transfer"),
}


@blueprint.get("/address/<address>/transactions/sums")
def get_sums_of_transactions(address: str) -> Response:
    return _page("transactions", "address", "/addresses", address_of(address))


@blueprint.get("/address/<address>/transfers/sums")
def get_sums_of_transfers(address: str) -> Response:
    return _page("transfers", "address", "/addresses", address_of(address))


@blueprint.get("/address/<address>/internal/sums")
def get_sums_of_internal_transfers(address: str) -> Response:
    return _page("internal", "address", "/addresses", address_of(address))


@blueprint.get("/token/<address>/transfers/sums")
def get_sums_of_token(address: str) -> Response:
    return _page("transfers", "tokenAddress", "/tokens", address_of(address))


def _page(rows: str, key: str, collection: str, address: bytes) -> Response:
    entity, noun = LISTS[rows]
    own = to_hex(address)
    parent = f"/{key.removesuffix('Address')}/{own}"

    def read(reader: Reader, entity: str, window: Window, given: Mapping[str, str]) -> Page:
        of = address if key == "address" else parameters.optional_address(given, "address")
        return monthly_sums.page(reader, entity, window, given, of)

    shown = entity_list(
        entity,
        f"{parent}/{rows}/sums",
        f"{collection}/{own}/{rows}/sums",
        fixed={key: own},
        paging=(),
        page_of=read,
    )
    names = names_of(shown.records, own)
    return shown.response(
        "sums.html",
        shown=shown,
        names=names,
        address=own,
        parent=parent,
        rows=rows,
        noun=noun,
        prices=prices.unit_prices(reader()),
    )


HOOKS = Pages(blueprints=(blueprint,), sections=(Section({"list": "list_sums.html"}),))
