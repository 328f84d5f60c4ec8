"""/charts, the chain's statistics by day, and /gas, the price of gas."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from flask import Blueprint, Response, request

from scan import parameters
from scan.ethereum.units import COIN_DECIMALS
from scan.http.requests import reader
from scan.pages.largest_transfers import shown_day
from scan.pages.records import names_of
from scan.pages.site import page, site
from scan.pages.svg_charts import DAY_S, Chart, Point, bar_chart, line_chart
from scan.queries import daily_stats, gas
from scan.queries.method_names import add_methods

DAYS = {"30": 30, "90": 90}

blueprint = Blueprint("pages_statistics", __name__)


class Series(NamedTuple):
    field: str
    title: str
    is_coin: bool = False


SERIES = (
    Series("transactions", "Transactions"),
    Series("failedTransactions", "Failed transactions"),
    Series("activeAddresses", "Active addresses"),
    Series("newAddresses", "New addresses"),
    Series("contractsCreated", "Contracts created"),
    Series("tokenTransfers", "Token transfers"),
    Series("dexTrades", "Trades"),
    Series("gasUsed", "Gas used"),
    Series("fees", "Fees", is_coin=True),
    Series("burntFees", "Burnt fees", is_coin=True),
)


@blueprint.get("/charts")
def charts() -> Response:
    chosen = parameters.one_of(request.args.get("days", "30"), "days", DAYS)
    shown = daily_stats.days(reader(), length=DAYS[chosen])
    days = json.loads(shown.data)
    largest = shown_day(shown.last)
    transactions = largest.records if largest else []
    add_methods(reader(), transactions)
    return page(
        "charts.html",
        chosen=chosen,
        choices=DAYS,
        days=shown,
        charts=[c for series in SERIES if (c := _chart(days, series, site().chain().symbol))],
        largest=largest,
        transactions=transactions,
        names=names_of(transactions),
    )


def _chart(days: list[dict[str, Any]], series: Series, symbol: str) -> Chart | None:
    """Return a chart of days, None where Python's calendar has no such days."""
    try:
        points = [_point(day, series.field) for day in days]
    except ValueError:
        return None
    decimals = COIN_DECIMALS if series.is_coin else 0
    title = f"{series.title}, {symbol}" if series.is_coin else series.title
    return bar_chart(points, title=title, span_s=DAY_S, decimals=decimals)


def _point(day: dict[str, Any], field: str) -> Point:
    time_s = int(datetime.fromisoformat(day["date"]).replace(tzinfo=UTC).timestamp())
    return Point(time_s, int(day[field]))


@blueprint.get("/gas")
def show_gas() -> Response:
    prices = gas.price(reader())
    return page("gas.html", gas=prices, charts=_gas_charts(prices["blocks"][::-1]))


def _gas_charts(blocks: list[dict[str, Any]]) -> list[Chart]:
    """Return charts of the newest blocks, oldest first: how full they were and their base fee."""
    try:
        times = [int(datetime.fromisoformat(block["timestamp"]).timestamp()) for block in blocks]
    except ValueError:
        return []
    full = [
        Point(time_s, round(block["gasUsedRatio"] * 10_000), f"{block['gasUsedRatio']:.2%}")
        for time_s, block in zip(times, blocks, strict=True)
    ]
    fees = [
        Point(time_s, int(block["baseFeePerGas"]))
        for time_s, block in zip(times, blocks, strict=True)
        if block["baseFeePerGas"] is not None
    ]
    drawn = (
        bar_chart(full, title="Gas used, % of the limit", span_s=1, decimals=2),
        line_chart(fees, title="Base fee, Gwei", decimals=9),
    )
    return [chart for chart in drawn if chart]
