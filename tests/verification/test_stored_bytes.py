"""How much verifications may store within a day."""

import pytest

from scan.errors import RateLimited, Unavailable
from scan.verification.stored_bytes import DAY_S, StoredBytes

pytestmark = pytest.mark.check


def test_a_client_stores_a_tenth_and_all_together_the_whole_for_a_day() -> None:
    now = [0.0]
    stored = StoredBytes(100, lambda: now[0])
    stored.add("a", 10)
    with pytest.raises(RateLimited):
        stored.check("a")
    for client in "bcdefghi":
        stored.check(client)
        stored.add(client, 10)
    stored.check("j")
    now[0] = DAY_S / 2
    stored.add(None, 10)
    with pytest.raises(Unavailable):
        stored.check("j")
    now[0] = DAY_S
    stored.check("a")
    now[0] = 2 * DAY_S
    stored.check(None)
    assert not stored._of_client and not stored._stored
