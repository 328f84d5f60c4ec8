"""How much verifications may store within a day."""

from datetime import UTC, datetime, timedelta

import pytest

from scan.errors import RateLimited, Unavailable
from scan.verification.verifier import StoredBytes
from tests.support.database import execute


def test_a_client_stores_a_tenth_and_all_together_the_whole_for_a_day(database, database_url):
    """Counted in the database: a restart, or another process, begins with what is stored."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    now = [begin]
    stored, other = (StoredBytes(database, 100, lambda: now[0]) for _ in range(2))
    for second in range(5):
        now[0] = begin + timedelta(seconds=second)
        stored.add("a", 2)
    counted = execute(database_url, "SELECT client, bytes FROM stored_verifications")
    assert counted == [("a", 10)]  # what is summed before each verification are few rows
    for process in (stored, other):
        with pytest.raises(RateLimited):
            process.check("a")
    for client in "bcdefghi":
        stored.check(client)
        other.add(client, 10)
    now[0] = begin + timedelta(hours=12)
    stored.add(None, 10)
    for process in (stored, other):
        for client in ("j", None):
            with pytest.raises(Unavailable):
                process.check(client)
    now[0] = begin + timedelta(hours=24)
    stored.check("a")
    other.add("k", 1)
    counted = execute(database_url, "SELECT client, bytes FROM stored_verifications")
    assert sorted(counted) == [("", 10), ("k", 1)]
