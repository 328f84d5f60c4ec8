"""/tokens and /token/:address, with its transfers, holders and items."""

import json

from flask import Blueprint, Response, request

from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.formatting import share
from scan.pages.largest_transfers import shown_day
from scan.pages.records import (
    Listing,
    address_of,
    listing,
    names_of,
    requested_tab,
    window,
)
from scan.pages.site import page
from scan.pages.svg_charts import DAY_S, Chart, Point, bar_chart, line_chart
from scan.queries import items, token_transfers, tokens
from scan.queries.pages import Window

CHART_DAYS = 60
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
    holder = None  # whose transfers are requested
    if tab == TABS[0] and request.args.get("holder"):
        holder = address_of(request.args["holder"])
    shown = _list(tab, key, holder)
    records = shown.records if shown else []
    largest = shown_day(_newest_day(key), key) if tab == "chart" else None
    moved = largest.records if largest else []
    return page(
        "token.html",
        token=token,
        tab=tab,
        shown=shown,
        shares=[share(record.get("balance", 0), token["totalSupply"]) for record in records],
        holder=None if holder is None else to_hex(holder),
        names=names_of([*records, *moved], to_hex(key), None if holder is None else to_hex(holder)),
        chart=_chart(key) if tab == "chart" else None,
        days=_days(key) if tab == "chart" else None,
        largest=largest,
    )


def _list(tab: str, token: bytes, holder: bytes | None) -> Listing | None:
    if tab == "transfers":
        return listing(token_transfers.page(reader(), window(), token=token, address=holder))
    if tab == "holders":
        return listing(tokens.holders(reader(), token, window()))
    if tab == "items":
        return listing(items.page(reader(), token, window()))
    return None


def _newest_day(token: bytes) -> str | None:
    """Return the day of the token's newest transfer."""
    newest = json.loads(token_transfers.page(reader(), Window(1, 0), token=token).data)
    return newest[0]["timestamp"].partition("T")[0] if newest else None


def _days(token: bytes) -> Chart | None:
    counts = json.loads(token_transfers.count_by_day(reader(), token, CHART_DAYS))
    if len(counts) < 2:
        return None
    by_day = {count["time"]: count["transfers"] for count in counts}
    days = range(counts[0]["time"], counts[-1]["time"] + 1, DAY_S)  # some may have no blocks
    points = [Point(day, by_day.get(day, 0)) for day in days][-CHART_DAYS:]
    return bar_chart(points, title="Transfers by day", span_s=DAY_S)


def _chart(token: bytes) -> Chart | None:
    points = token_transfers.count_over_time(reader(), token)
    return line_chart(
        [Point(point["time"], point["transfers"]) for point in json.loads(points)],
        title="Total transfers",
    )
