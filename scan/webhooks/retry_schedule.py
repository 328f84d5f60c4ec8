"""The time of the next attempt after a failed one."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRY_STEPS_S = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
JITTER = 0.2  # ±20 % of a step, so that retries after an outage do not all come at once

_SECONDS = re.compile(r"[0-9]{1,9}\Z")


def retry_delay_s(
    steps_s: tuple[float, ...], failures: int, requested_s: float | None, chance: float
) -> float | None:
    """Return the seconds until the next attempt after this many failures; None if no retry is left.

    `requested_s` is the receiver's Retry-After, honoured up to twice the step. `chance` is a random
    number between 0 and 1.
    """
    if failures > len(steps_s):
        return None
    step_s = steps_s[failures - 1]
    delay_s = step_s * (1 - JITTER + 2 * JITTER * chance)
    if requested_s is None:
        return delay_s
    return max(delay_s, min(requested_s, 2 * step_s))


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, which has seconds or a date (RFC 9110, section
    10.2.3); None for anything else."""
    if header is None:
        return None
    if _SECONDS.match(header.strip()):
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
