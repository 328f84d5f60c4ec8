"""module=stats: statistics of days (UTC)."""

from datetime import date, timedelta
from typing import Any

import orjson

from scan.extensions.chain_statistics import daily_stats
from scan.extensions.etherscan.account import NO_DATA
from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, rows_reply
from scan.http.requests import reader

MOST_BLOCKS = 100_000  # which are read in 0.1 s
TOO_MANY_BLOCKS = f"Error! The days have more than {MOST_BLOCKS} blocks: request fewer days"
NOT_OF_ALL = "It is not known of all blocks of these days."
WRONG_DATES = (
    f"Error! startdate and enddate must be in their order and at most {daily_stats.MAX_DAYS} days"
)


def days_as(object_name: str, parameters: Parameters) -> Reply:
    """Return the days between two dates as objects, the oldest first, or with sort=desc last."""
    return _days(object_name, parameters, daily_stats.days(reader(), *_dates(parameters)).data)


def block_times(parameters: Parameters) -> Reply:
    """Return the mean time between blocks, of the days that have some."""
    first, last = _dates(parameters)
    (days,) = reader().row("queries/daily_block_times_list", date_from=first, date_to=last)
    return _days("day_of_block_times", parameters, days)


def blocks_as(object_name: str, field: str, parameters: Parameters) -> Reply:
    """Return what the blocks of each day have together as objects, which show `field`."""
    first, last = _dates(parameters)
    (days,) = reader().row(
        "queries/daily_blocks_list",
        is_unbounded=True,
        date_from=first,
        date_to=last,
        most=MOST_BLOCKS,
    )
    if days is None:
        raise Failure(TOO_MANY_BLOCKS)
    if any(day[field] is None for day in orjson.loads(days)):
        raise Failure(f"Error! {reader().not_indexed(NOT_OF_ALL).message}")
    return _days(object_name, parameters, days)


def _dates(parameters: Parameters) -> tuple[date, date]:
    first, last = parameters.day("startdate"), parameters.day("enddate")
    if not timedelta() <= last - first < timedelta(daily_stats.MAX_DAYS):
        raise Failure(WRONG_DATES)
    return first, last


def _days(object_name: str, parameters: Parameters, days: str) -> Reply:
    rows: list[Any] = [renamed(object_name, day) for day in orjson.loads(days)]
    if parameters.direction() == "desc":
        rows.reverse()
    return rows_reply(rows, NO_DATA)
