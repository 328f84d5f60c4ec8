"""How old the signed time of a key's request may be."""

import pytest

from scan.accounts.wallet_signatures import require_recent
from scan.errors import InvalidParameter

pytestmark = pytest.mark.check

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize("late_ms", [-60_000, -1, 0, 299_999, 300_000])
def test_a_timestamp_is_up_to_5_minutes_old_and_1_minute_ahead(late_ms):
    require_recent(NOW_MS - late_ms, now_ms=NOW_MS)


WRONG_TIMES = [(300_001, "is more than 5 minutes old"), (-60_001, "is more than 1 minute ahead")]


@pytest.mark.parametrize(("late_ms", "reason"), WRONG_TIMES)
def test_any_other_is_refused_with_the_time_it_is(late_ms, reason):
    with pytest.raises(InvalidParameter, match=rf"{reason}.* It is now {NOW_MS}\.") as refusal:
        require_recent(NOW_MS - late_ms, now_ms=NOW_MS)
    assert refusal.value.body()["field"] == "timestamp"
