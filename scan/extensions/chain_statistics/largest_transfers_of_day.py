"""The largest transfers of a day, as pages of charts and of tokens show them."""

import json
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, NamedTuple

from flask import request

from scan import parameters
from scan.extensions.chain_statistics import largest_transfers
from scan.http.requests import reader

FIRST_DAY = date(1970, 1, 1)
ONE_DAY = timedelta(days=1)


class DayShown(NamedTuple):
    """A day with its largest transfers; the days before and after it are None where no page can
    have any."""

    day: date
    before: date | None
    after: date | None
    sample: int
    total: int
    records: list[dict[str, Any]]


def shown_day(newest: str | None, token: bytes | None = None) -> DayShown | None:
    """Return the largest transfers of the requested day, or of the newest; None where that is no
    day of Python's calendar."""
    day = parameters.optional_date(request.args, "date")
    last = None
    with suppress(TypeError, ValueError):
        last = date.fromisoformat(newest)  # type: ignore[arg-type]
    day = day or last
    if day is None:
        return None
    if token is None:
        largest = largest_transfers.of_coin(reader(), day)
    else:
        largest = largest_transfers.of_token(reader(), token, day)
    return DayShown(
        day,
        day - ONE_DAY if day > FIRST_DAY else None,
        day + ONE_DAY if last is not None and day < last else None,
        largest.sample,
        largest.total or 0,
        json.loads(largest.data),
    )
