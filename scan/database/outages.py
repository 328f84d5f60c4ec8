"""What a process logs of what lasts and is met again and again, as while the database is away: one
line when it begins and one a minute after, whoever meets it and however often.

connection.py logs for all why the database is away. A loop that waits for it reports its failures
by log_pause(), which leaves these out.
"""

import logging
import threading
import time
from collections.abc import Hashable

from scan.database.errors import Away
from scan.errors import ScanError

AGAIN_AFTER_S = 60.0
MAX_KINDS = 1000
ANEW_AFTER_S = 5.0  # where some connections are made and others refused, as if outages alternated
_again_at: dict[tuple[Hashable, ...], float] = {}
_lock = threading.Lock()


def is_due(*kind: Hashable) -> bool:
    """Return whether no line of this kind was due in the last minute."""
    now = time.monotonic()
    with _lock:
        if now < _again_at.get(kind, 0.0):
            return False
        if len(_again_at) > MAX_KINDS:
            _again_at.clear()
        _again_at[kind] = now + AGAIN_AFTER_S
        return True


def note_connected(url: str) -> None:
    """Let what is logged of a database be due again soon: its next outage is another one."""
    soon = time.monotonic() + ANEW_AFTER_S
    with _lock:
        for kind in _again_at:
            if kind[0] == url:
                _again_at[kind] = min(_again_at[kind], soon)


def log_pause(log: logging.Logger, text: str, error: Exception, *values: object) -> None:
    """Log why a loop pauses: a text that is formatted with values, and the error, with a traceback
    where nobody expects it."""
    if isinstance(error, Away) or not is_due(text, type(error).__name__):
        return
    reason = error.for_operators if isinstance(error, ScanError) else error
    traceback = None if isinstance(error, ScanError | OSError) else error
    log.warning(f"{text}: %s", *values, reason, exc_info=traceback)
