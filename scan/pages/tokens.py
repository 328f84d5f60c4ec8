"""/tokens and /token/:address, with its transfers, holders and items."""

import json

from flask import Blueprint, Response, request

from scan.errors import NotFound
from scan.hex import to_hex
from scan.http import chain_lists
from scan.http.chain_lists import Page
from scan.http.chain_reads import read_chain
from scan.http.token_items import read_items
from scan.pages.charts import Chart, Point, line_chart
from scan.pages.formatting import share
from scan.pages.records import (
    PAGE_SIZE,
    Listing,
    address_of,
    listing,
    names_of,
    page_request,
    record,
)
from scan.pages.site import page

TABS = ("transfers", "holders", "items", "chart")

blueprint = Blueprint("pages_tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    return page("tokens.html", tokens=listing(chain_lists.tokens(page_request())))


@blueprint.get("/token/<address>")
def get_token(address: str) -> Response:
    key = address_of(address)
    token = record("api/tokens_get", address=key)
    if token is None:
        raise NotFound("No token is known at this address.")
    tab = request.args.get("tab")
    tab = tab if tab in TABS else TABS[0]
    shown = _list(tab, key)
    records = shown.records if shown else []
    return page(
        "token.html",
        token=token,
        tab=tab,
        shown=shown,
        shares=[share(each.get("balance", 0), token["totalSupply"]) for each in records],
        names=names_of(records, to_hex(key)),
        chart=_chart(key) if tab == "chart" else None,
    )


def _list(tab: str, token: bytes) -> Listing | None:
    wanted = page_request()
    if tab == "transfers":
        return listing(chain_lists.token_transfers(wanted, token=token))
    if tab == "holders":
        row = read_chain(
            "api/tokens_list_holders", address=token, limit=PAGE_SIZE, offset=wanted.offset
        )
        return listing(Page(*row))
    if tab == "items":
        return listing(read_items(token, PAGE_SIZE, wanted.offset))
    return None


def _chart(token: bytes) -> Chart | None:
    (points,) = read_chain("pages/token_transfers_count_over_time", address=token)
    return line_chart(
        [Point(each["time"], each["transfers"]) for each in json.loads(points)],
        title="Transfers in all",
    )
