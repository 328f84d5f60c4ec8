"""/ and the part of it that moves, /live."""

import json
from itertools import dropwhile
from typing import Any, NamedTuple

from flask import Blueprint, Response

from scan.errors import ScanError
from scan.http.requests import reader
from scan.pages.charts import DAY_S, Chart, Point, bar_chart
from scan.pages.method_names import add_methods
from scan.pages.records import Record, listing, names_of
from scan.pages.site import HEADERS, page, site
from scan.queries import blocks, network, transactions
from scan.queries.pages import Window

NEWEST = Window(limit=8, offset=0)

blueprint = Blueprint("pages_home", __name__)


class Span(NamedTuple):
    """How long each bar of a chart is, and how many there are of them."""

    seconds: int
    spans: int
    name: str


# The first whose bars reach back over the chain's whole time, else the last.
SPANS = (Span(300, 24, "5 minutes"), Span(3600, 24, "hour"), Span(DAY_S, 14, "day"))


@blueprint.get("/")
def home() -> Response:
    """Never an error: whoever looks here wants to know why nothing else answers."""
    problem, status, charts, live = None, {}, [], {}
    try:
        status = json.loads(network.status(reader()))
        live = _newest()
        charts = _charts(live["blocks"])
    except ScanError as error:
        problem = error.message
    if problem is not None:
        return _without_database(problem)
    return page("home.html", status=status, charts=charts, **live)


@blueprint.get("/live")
def newest() -> Response:
    """What Home shows of the head, which its script puts in the place of what it has."""
    return page("live.html", **_newest())


def _without_database(problem: str) -> Response:
    refusal = site().refuse(ScanError(problem))
    return Response(refusal.body, 200, headers=dict(HEADERS))


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
        activity = _activity(span)
        if activity[0]["blocks"] == 0 or span is SPANS[-1]:
            break
    activity = _without_empty_past(activity)
    estimated = " (estimated)" if any(each["sampled"] for each in activity) else ""
    counts = [Point(each["start"], each["transactions"]) for each in activity]
    gas = [Point(each["start"], int(each["gasUsed"])) for each in activity]
    found = (
        bar_chart(counts, title=f"Transactions per {span.name}", span_s=span.seconds),
        bar_chart(gas, title=f"Gas used per {span.name}{estimated}", span_s=span.seconds),
    )
    return [chart for chart in found if chart]


def _without_empty_past(activity: list[Record]) -> list[Record]:
    """From the first span in which there was a block."""
    return list(dropwhile(lambda each: each["blocks"] == 0, activity))


def _activity(span: Span) -> list[Record]:
    return list(json.loads(network.activity(reader(), span.seconds, span.spans)))
