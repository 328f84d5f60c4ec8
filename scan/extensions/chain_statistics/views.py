"""The chain's statistics by day, its largest transfers and the price of gas: GET
/api/v1/stats/daily, /stats/largest-transfers and /gas; the pages /charts and /gas."""

import json
from collections.abc import Mapping
from itertools import dropwhile
from typing import Any, NamedTuple

import flask
import orjson
from flask import Blueprint, request

from scan import parameters
from scan.api.hooks import Api
from scan.cached_values import LazySequence
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.chain_statistics import gas_prices, statistics
from scan.hex import data, to_hex
from scan.http import csv_text
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.list_formats import FORMATS, JSON, PARAMETER, TYPES, Format
from scan.pages import filtered_lists, hooks, records
from scan.pages.site import page, site
from scan.pages.svg_charts import DAY_S, Chart, Point, bar_chart, line_chart, spread_over_seconds
from scan.queries import tokens
from scan.queries.holdings import UnitPrices, unit_prices
from scan.queries.list_pages import Window

DAILY_FORMATS = LazySequence(lambda: (f for f in FORMATS if f in (JSON, Format.CSV.value)))

api_views = Blueprint("chain_statistics", __name__)


@api_views.get("/gas")
def get_gas() -> Response:
    query_arguments()
    return json_value(gas_prices.price(reader()))


@api_views.get("/stats/daily")
def list_days() -> Response:
    arguments = query_arguments("from", "to", PARAMETER)
    chosen = parameters.one_of(arguments.get(PARAMETER, JSON), PARAMETER, DAILY_FORMATS)
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    days = statistics.days(reader(), first, last)
    if chosen == Format.CSV.value:
        headers = {"Content-Disposition": 'attachment; filename="days.csv"'}
        content_type = f"{TYPES[Format.CSV]}; charset=utf-8; header=present"
        body = csv_text.short_list("days", orjson.loads(days.data))
        return flask.Response(body, headers=headers, content_type=content_type)
    ends = {"from": days.first, "to": days.last}
    return json_value({**ends, "complete": True, "days": orjson.Fragment(days.data)})


@api_views.get("/stats/largest-transfers")
def list_largest_transfers() -> Response:
    arguments = query_arguments("tokenAddress", "date")
    token = parameters.optional_address(arguments, "tokenAddress")
    day = parameters.optional_date(arguments, "date")
    if token is None:
        name, largest = "transactions", statistics.largest_transactions(reader(), day)
    else:
        name, largest = "transfers", statistics.largest_token_transfers(reader(), token, day)
    sample: dict[str, Any] = {"of": largest.sample, "blockFrom": largest.first_block}
    if day is not None:
        sample |= {"date": day, "total": largest.total}
    return json_value({**sample, name: orjson.Fragment(largest.data)})


WHOLE_TIME = "all"
DAYS = {"7": 7, "30": 30, "90": 90, "365": 365, WHOLE_TIME: 1}

page_views = Blueprint("pages_chain_statistics", __name__)
CHART_DAYS = 60


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


@page_views.get("/charts")
def charts() -> Response:
    chosen = parameters.one_of(request.args.get("days", "30"), "days", DAYS)
    listed = statistics.days(reader(), length=DAYS[chosen])
    span, spans = "day", json.loads(listed.data)
    if chosen == WHOLE_TIME:
        span, spans = statistics.whole_time(reader())
    largest = statistics.shown_day(listed.last)
    transactions = largest.records if largest else []
    hooks.complete_transactions(reader(), transactions)
    return page(
        "charts.html",
        chosen=chosen,
        choices=DAYS,
        days=listed,
        span=span,
        charts=[c for series in SERIES if (c := _chart(spans, series, site().chain().symbol))],
        largest=largest,
        transactions=transactions,
        names=records.names_of(transactions),
        prices=unit_prices(reader()),
    )


def _chart(spans: list[dict[str, Any]], series: Series, symbol: str) -> Chart | None:
    """Return a chart of days, weeks or months; of addresses that were active, days alone."""
    points = [
        Point(parameters.unix_seconds(f"{span['date']}T00:00:00Z"), int(span[series.field]))
        for span in spans
        if series.field in span
    ]
    decimals = COIN_DECIMALS if series.is_coin else 0
    title = f"{series.title}, {symbol}" if series.is_coin else series.title
    return bar_chart(points, title=title, span_s=DAY_S, decimals=decimals)


@page_views.get("/gas")
def show_gas() -> Response:
    prices = gas_prices.price(reader())
    labels = records.names_of((), *(called["address"] for called in prices["contracts"]))
    charts = _gas_charts(prices["blocks"][::-1])
    unit = unit_prices(reader())
    return page("gas.html", gas=prices, labels=labels, charts=charts, prices=unit)


def _gas_charts(blocks: list[dict[str, Any]]) -> list[Chart]:
    """Return charts of the newest blocks, oldest first: how full they were and their base fee."""
    times = spread_over_seconds([parameters.unix_seconds(b["timestamp"]) for b in blocks])
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


class Span(NamedTuple):
    """The length and number of a chart's bars."""

    seconds: int
    spans: int
    name: str


# The first that covers the chain's whole lifetime is used, otherwise the last.
SPANS = (Span(300, 24, "5 minutes"), Span(3600, 24, "hour"), Span(DAY_S, 14, "day"))


def live(newest_blocks: list[records.Record]) -> Mapping[str, Any]:
    """Return the values of live_base_fee.html."""
    return {"next_base_fee": gas_prices.next_base_fee([*map(gas_prices.gas_of, newest_blocks)])}


def home(newest_blocks: list[records.Record]) -> Mapping[str, Any]:
    """Return the values of home_charts.html."""
    return {"charts": _activity_charts() if newest_blocks else []}


def _activity_charts() -> list[Chart]:
    for span in SPANS:
        activity = json.loads(statistics.activity(reader(), span.seconds, span.spans))
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


def _token_tab(key: bytes) -> tuple[filtered_lists.FilteredList | None, Mapping[str, Any]]:
    newest = json.loads(tokens.transfers_page(reader(), Window(1, 0), token=key).data)
    day = newest[0]["timestamp"].partition("T")[0] if newest else None
    largest = statistics.shown_day(day, key)
    return None, {
        "names": records.names_of(largest.records if largest else [], to_hex(key)),
        "chart": _token_chart(key),
        "days": _token_days(key),
        "holders": _token_holders(key),
        "largest": largest,
    }


def _token_days(token: bytes) -> Chart | None:
    (listed,) = reader().row("queries/token_transfers_count_by_day", address=token, days=CHART_DAYS)
    counts = json.loads(listed)
    if len(counts) < 2:
        return None
    by_day = {count["time"]: count["transfers"] for count in counts}
    days = range(counts[0]["time"], counts[-1]["time"] + 1, DAY_S)  # some may have no blocks
    points = [Point(day, by_day.get(day, 0)) for day in days[-CHART_DAYS:]]
    return bar_chart(points, title="Transfers by day", span_s=DAY_S)


def _token_holders(token: bytes) -> Chart | None:
    """Return the holders after each of the newest days; None where the transfers of these days are
    not all known, or too many, as in tokens.holder_change()."""
    if tokens.holder_change(reader(), token)["change"] is None:
        return None
    (counts,) = reader().row(
        "queries/token_holders_count_by_day", address=token, days=tokens.CHANGE_DAYS
    )
    points = [Point(count["time"], count["holders"]) for count in json.loads(counts)]
    return line_chart([*dropwhile(lambda p: not p.value, points)], title="Holders by day")


def _transfers(token: records.Record, prices: UnitPrices | None) -> Chart | None:
    """Return a token's transfers by day; of one that is younger, all by time."""
    key = data(token["address"])
    return _token_days(key) or _token_chart(key)


def _token_chart(token: bytes) -> Chart | None:
    (counts,) = reader().row("queries/token_transfers_count_over_time", address=token)
    points = [Point(count["time"], count["transfers"]) for count in json.loads(counts)]
    return line_chart(points, title="Total transfers")


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(
        blueprints=(page_views,),
        menu=(
            ("Main", "/charts", "Charts"),
            ("Main", "/gas", "Gas"),
            *((group, "/charts", "Charts by day") for group in ("Home", "Chain")),
            *((group, "/gas", "Gas prices") for group in ("Home", "Chain")),
        ),
        sections=(
            hooks.HomeSection({"home": "home_charts.html"}, home),
            hooks.Section({"list": "list_largest.html"}),
            hooks.LiveSection({"live": "live_base_fee.html"}, live),
            hooks.TokenChart({}, _transfers, place=20),
        ),
        tabs=(hooks.TokenTab("chart", "Chart", 40, template="token_chart.html", read=_token_tab),),
    ),
)
