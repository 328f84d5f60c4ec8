"""/tokens and /token/:address, with its transfers, holders and items."""

import json

from flask import Blueprint, Response

from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.charts import Chart, Point, line_chart
from scan.pages.formatting import share
from scan.pages.records import (
    Listing,
    address_of,
    listing,
    names_of,
    requested_tab,
    window,
)
from scan.pages.site import page
from scan.queries import items, token_transfers, tokens

TABS = ("transfers", "holders", "items", "chart")

blueprint = Blueprint("pages_tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    return page("tokens.html", tokens=listing(tokens.page(reader(), window())))


@blueprint.get("/token/<address>")
def get_token(address: str) -> Response:
    key = address_of(address)
    token = json.loads(tokens.get(reader(), key))
    tab = requested_tab(TABS)
    shown = _list(tab, key)
    records = shown.records if shown else []
    return page(
        "token.html",
        token=token,
        tab=tab,
        shown=shown,
        shares=[share(record.get("balance", 0), token["totalSupply"]) for record in records],
        names=names_of(records, to_hex(key)),
        chart=_chart(key) if tab == "chart" else None,
    )


def _list(tab: str, token: bytes) -> Listing | None:
    if tab == "transfers":
        return listing(token_transfers.page(reader(), window(), token=token))
    if tab == "holders":
        return listing(tokens.holders(reader(), token, window()))
    if tab == "items":
        return listing(items.page(reader(), token, window()))
    return None


def _chart(token: bytes) -> Chart | None:
    points = token_transfers.count_over_time(reader(), token)
    return line_chart(
        [Point(point["time"], point["transfers"]) for point in json.loads(points)],
        title="Total transfers",
    )
