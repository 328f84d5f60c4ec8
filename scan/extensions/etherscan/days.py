"""module=stats: statistics of days (UTC)."""

from typing import Any

import orjson

from scan.errors import InvalidParameter
from scan.extensions.chain_statistics import daily_stats
from scan.extensions.etherscan.account import NO_DATA
from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, rows_reply
from scan.http.requests import reader


def days_as(object_name: str, parameters: Parameters) -> Reply:
    """Return the days between two dates as objects, the oldest first, or with sort=desc last."""
    first, last = (parameters.day(name) for name in ("startdate", "enddate"))
    try:
        listed = daily_stats.days(reader(), first, last)
    except InvalidParameter as error:
        raise Failure(f"Error! {error.message}") from None
    rows: list[Any] = [renamed(object_name, day) for day in orjson.loads(listed.data)]
    if parameters.direction() == "desc":
        rows.reverse()
    return rows_reply(rows, NO_DATA)
