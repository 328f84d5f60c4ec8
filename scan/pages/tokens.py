"""/tokens and /token/:address, with its transfers, holders and items."""

import json

from flask import Blueprint, Response

from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, FilteredList, entity_list, filtered_list
from scan.pages.formatting import percent
from scan.pages.items import thumbnails_of
from scan.pages.largest_transfers import shown_day
from scan.pages.prices import unit_prices
from scan.pages.records import address_of, names_of, requested_tab
from scan.pages.site import page
from scan.pages.svg_charts import DAY_S, Chart, Point, bar_chart, line_chart
from scan.queries import items, token_transfers, tokens
from scan.queries.pages import Window

CHART_DAYS = 60
TABS = ("transfers", "holders", "items", "chart")

SHARE_PLACES = 2

blueprint = Blueprint("pages_tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    shown = filtered_list(
        *("/tokens", "/tokens", ()),
        lambda window, _: tokens.page(reader(), window),
        paging=UNORDERED,
        is_by_size=True,
    )
    return shown.response("tokens.html", tokens=shown)


@blueprint.get("/token-transfers")
def list_token_transfers() -> Response:
    shown = entity_list("token_transfers", "/token-transfers", "/token-transfers")
    return shown.response("token_transfers.html", shown=shown, names=names_of(shown.records))


@blueprint.get("/trades")
def list_trades() -> Response:
    shown = entity_list("dex_trades", "/trades", "/dex-trades")
    return shown.response("trades.html", shown=shown, names=names_of(shown.records))


@blueprint.get("/token/<address>")
def get_token(address: str) -> Response:
    key = address_of(address)
    token = json.loads(tokens.get(reader(), key))
    tab = requested_tab(TABS)
    shown = _list(tab, key)
    # With a filter by address, transfers show their direction for this holder.
    holder = shown.filter("address").lower() if shown else None
    records = shown.records if shown else []
    largest = shown_day(_newest_day(key), key) if tab == "chart" else None
    moved = largest.records if largest else []
    respond = page if shown is None else shown.response
    return respond(
        "token.html",
        token=token,
        tab=tab,
        prices=unit_prices(),
        shown=shown,
        shares=[
            percent(record.get("balance", 0), token["totalSupply"], SHARE_PLACES)
            for record in records
        ],
        holder=holder,
        thumbnails=thumbnails_of(records) if tab == "items" else None,
        names=names_of([*records, *moved], to_hex(key)),
        chart=_chart(key) if tab == "chart" else None,
        days=_days(key) if tab == "chart" else None,
        largest=largest,
    )


def _list(tab: str, token: bytes) -> FilteredList | None:
    path, api_path = f"/token/{to_hex(token)}", f"/tokens/{to_hex(token)}/{tab}"
    if tab == "transfers":
        left_out = ("tokenType",)
        own = {"tokenAddress": to_hex(token)}
        return entity_list("token_transfers", path, api_path, left_out=left_out, fixed=own)
    listed = {"holders": tokens.holders, "items": items.page}.get(tab)
    if listed is None:
        return None
    return filtered_list(
        *(path, api_path, ()),
        lambda window, _: listed(reader(), token, window),
        tab=tab,
        paging=UNORDERED,
        is_by_size=tab == "holders",
    )


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
