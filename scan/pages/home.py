"""/, and /live, the part of it that a script refreshes."""

import json
from itertools import dropwhile
from typing import Any, NamedTuple

from flask import Blueprint, Response

from scan.http.requests import reader
from scan.http.services import services
from scan.pages.records import Record, listing, names_of
from scan.pages.site import page
from scan.pages.svg_charts import DAY_S, Chart, Point, bar_chart
from scan.queries import blocks, network, transactions
from scan.queries.method_names import add_methods
from scan.queries.pages import Window

NEWEST = Window(limit=8, offset=0)

blueprint = Blueprint("pages_home", __name__)


class Span(NamedTuple):
    """The length and number of a chart's bars."""

    seconds: int
    spans: int
    name: str


# The first that covers the chain's whole lifetime is used, otherwise the last.
SPANS = (Span(300, 24, "5 minutes"), Span(3600, 24, "hour"), Span(DAY_S, 14, "day"))


@blueprint.get("/")
def home() -> Response:
    status = json.loads(network.status(reader()))
    live = _newest()
    charts = _charts(live["blocks"])
    rpc_url = services().settings.public_rpc_url
    return page("home.html", status=status, charts=charts, rpc_url=rpc_url, **live)


@blueprint.get("/live")
def newest() -> Response:
    """Return the newest blocks and transactions, with which a script refreshes the home page."""
    return page("live.html", **_newest())


def _newest() -> dict[str, Any]:
    newest_blocks = listing(blocks.page(reader(), NEWEST)).records
    newest_transactions = listing(transactions.page(reader(), NEWEST)).records
    add_methods(reader(), newest_transactions)
    return {
        "stats": json.loads(network.stats(reader())),
        "blocks": newest_blocks,
        "transactions": newest_transactions,
        "names": names_of([*newest_blocks, *newest_transactions]),
    }


def _charts(newest_blocks: list[Record]) -> list[Chart]:
    if not newest_blocks:
        return []
    for span in SPANS:
        activity = json.loads(network.activity(reader(), span.seconds, span.spans))
        if activity[0]["blocks"] == 0 or span is SPANS[-1]:
            break
    # From the first span that has a block.
    activity = list(dropwhile(lambda period: period["blocks"] == 0, activity))
    estimated = " (estimated)" if any(period["sampled"] for period in activity) else ""
    counts = [Point(period["start"], period["transactions"]) for period in activity]
    gas = [Point(period["start"], int(period["gasUsed"])) for period in activity]
    charts = (
        bar_chart(counts, title=f"Transactions per {span.name}", span_s=span.seconds),
        bar_chart(gas, title=f"Gas used per {span.name}{estimated}", span_s=span.seconds),
    )
    return [chart for chart in charts if chart]
