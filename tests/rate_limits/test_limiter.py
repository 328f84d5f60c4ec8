"""The moving window in process: exact, bounded, forgetting."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import parse

from scan.errors import SettingError
from scan.rate_limits.limiter import make_limiter, requests_per_minute
from scan.rate_limits.window_storage import ProcessWindows, Window
from scan.settings import Settings
from tests.support.serving import at_once, redis_server

pytestmark = pytest.mark.check


def windows(max_clients=1000):
    """The windows of ten requests a minute, how a client is charged, and the time it is, which
    moves when it is changed."""
    now, rate = [1_700_000_000.0], parse("10/minute")
    store = ProcessWindows(max_clients, lambda: now[0])
    store.charge(Window(rate, ""), is_counted=False)
    [table] = store._tables.values()
    return table, lambda client: store.charge(Window(rate, client)), now


class Limiter:
    """What requests are charged to, as the service charges them."""

    def __init__(self, storage, **settings):
        self._limiter = make_limiter(Settings(rate_limit_storage=storage, **settings))

    def charge_address(self, address):
        return self._limiter.store.charge(Window(self._limiter.anonymous_rate, address))

    def charge_key(self, key_id, per_minute, address):
        return self._limiter.store.charge(*self._limiter.key_windows(key_id, per_minute, address))

    def peek_address(self, address):
        window = Window(self._limiter.anonymous_rate, address)
        return self._limiter.store.charge(window, is_counted=False)


@given(st.lists(st.one_of(st.floats(0, 4), st.floats(0, 30)), max_size=120))
def test_no_sixty_seconds_ever_hold_more_than_the_limit(steps):
    _, charge, now = windows()
    charges = []  # when, and whether it was allowed
    for step in steps:
        now[0] += step
        live = sum(allowed for at, allowed in charges if at >= now[0] - 60)
        verdict = charge("a")
        assert verdict.allowed == (live < 10)
        charges.append((now[0], verdict.allowed))
        live = sum(allowed for at, allowed in charges if at >= now[0] - 60)
        assert verdict.remaining == 10 - live


def test_a_full_table_gives_newcomers_one_shared_window_and_forgets_nobody():
    table, charge, _ = windows(max_clients=100)
    for n in range(100):
        assert charge(f"early {n}").remaining == 9
    assert Counter(charge(f"late {n}").allowed for n in range(50)) == {True: 10, False: 40}
    assert len(table) == 100
    assert all(charge(f"early {n}").remaining == 8 for n in range(100))


def test_places_in_the_full_table_free_in_the_order_of_the_last_requests():
    """Otherwise one client that stays keeps those that left, and strangers share a window."""
    table, charge, now = windows(max_clients=3)
    for name in ("stays", "leaves", "also leaves"):
        charge(name)
    now[0] += 40
    charge("stays")
    now[0] += 40
    assert [charge(f"stranger {n}").remaining for n in (1, 2, 2, 2)] == [9, 9, 8, 7]
    assert charge("stays").remaining == 8 and len(table) == 3


def test_clients_are_forgotten_once_their_window_is_empty():
    table, charge, now = windows()
    for n in range(500):
        charge(str(n))
    now[0] += 61
    for _ in range(300):
        charge("one who stays")
    assert len(table) == 1


def test_a_window_keeps_at_most_twice_its_limit_of_timestamps():
    table, charge, now = windows()
    for _ in range(1000):
        now[0] += 6.1
        assert charge("a").allowed
    assert len(table._windows["a"]) <= 20


def test_addresses_and_keys_never_share_a_bucket():
    limiter = Limiter("memory://", rate_limit_anonymous="2/minute")
    assert [limiter.charge_address("7").allowed for _ in range(3)] == [True, True, False]
    charged = [limiter.charge_key(7, 3, "192.0.2.1").allowed for _ in range(4)]
    assert charged == [True, True, True, False]


@pytest.fixture(params=["memory", "redis"])
def storage(request, tmp_path):
    """Every way in which two windows are charged together."""
    if request.param == "memory":
        yield "memory://"
        return
    with redis_server(tmp_path) as address:
        yield address


def test_an_address_has_a_ceiling_above_all_keys_it_uses(storage):
    limiter = Limiter(storage, rate_limit_address="5/minute")
    results = [limiter.charge_key(key_id, 4, "192.0.2.1") for key_id in (1, 1, 2, 2, 2, 2, 1)]
    assert [r.allowed for r in results] == [True] * 5 + [False] * 2
    shown = [(r.limit, r.remaining) for r in results]
    assert shown == [(4, 3), (4, 2), (5, 2), (5, 1), (5, 0), (5, 0), (5, 0)]
    # Two of key 1 passed here; elsewhere it has the rest of its own limit.
    assert limiter.charge_key(1, 4, "192.0.2.2")[:3] == (True, 4, 1)


def test_a_key_has_one_window_whatever_its_limit(storage):
    limiter = Limiter(storage, rate_limit_address="100/minute")
    assert [limiter.charge_key(1, 5, "192.0.2.1").allowed for _ in range(4)] == [True] * 4
    assert not limiter.charge_key(1, 3, "192.0.2.1").allowed
    assert limiter.charge_key(1, 6, "192.0.2.1")[:3] == (True, 6, 1)


def test_a_request_that_one_window_refuses_is_not_charged_to_the_other(storage):
    limiter = Limiter(storage, rate_limit_address="4/minute")
    for _ in range(10):
        limiter.charge_key(1, 1, "192.0.2.1")  # one passes, the key refuses nine
    assert limiter.charge_key(2, 100, "192.0.2.1")[:3] == (True, 4, 2)
    for key_id in (3, 4):
        assert limiter.charge_key(key_id, 2, "192.0.2.1").allowed
    for _ in range(10):
        refused = limiter.charge_key(5, 2, "192.0.2.1")
        assert refused[:3] == (False, 4, 0)
        assert 0 < refused.reset_in_s <= 60
    assert limiter.charge_key(5, 2, "192.0.2.9")[:3] == (True, 2, 1)


def test_forty_threads_with_many_keys_pass_exactly_the_ceiling(storage):
    limiter = Limiter(storage, rate_limit_address="25/minute")
    results = at_once(40, lambda number: limiter.charge_key(number % 4, 8, "192.0.2.1"))
    assert len([r for r in results if r.allowed]) == 25
    # What the ceiling refused is still there for another address.
    count = sum(
        limiter.charge_key(key, 8, "192.0.2.2").allowed for key in range(4) for _ in "12345678"
    )
    assert count == 32 - 25 == 7


def test_the_rate_for_keys_becomes_requests_per_minute():
    rates = {"100/minute": 100, "2/second": 120, "1000/hour": 16, "5/day": 1}
    rates["30 per 2 minutes"] = 15
    assert {rate: requests_per_minute(rate) for rate in rates} == rates


@pytest.mark.parametrize(
    "uri",
    ["nonsense://", "memcached://localhost:1", "redis://:secret@[::1", "async+redis://[::1]:1"],
)
def test_a_storage_that_cannot_count_stops_the_start_without_telling_the_password(uri):
    with pytest.raises(SettingError, match="SCAN_RATE_LIMIT_STORAGE") as caught:
        make_limiter(Settings(rate_limit_storage=uri))
    assert "secret" not in str(caught.value)


def test_looking_at_a_window_counts_nothing(storage):
    limiter = Limiter(storage, rate_limit_anonymous="2/minute")
    assert [limiter.peek_address("192.0.2.1")[:3] for _ in range(2)] == [(True, 2, 2)] * 2
    limiter.charge_address("192.0.2.1")
    limiter.charge_address("192.0.2.1")
    nothing_left = limiter.peek_address("192.0.2.1")
    assert nothing_left[:3] == (False, 2, 0)
    assert 0 < nothing_left.reset_in_s <= 60


@pytest.mark.thorough
def test_a_window_in_redis_moves(tmp_path):
    with redis_server(tmp_path) as address:
        limiter = Limiter(address, rate_limit_anonymous="3/second")
        charges = []
        until = time.monotonic() + 2
        while time.monotonic() < until:
            began = time.monotonic()
            verdict = limiter.charge_address("192.0.2.1")
            charges.append((began, time.monotonic(), verdict.allowed))
        passed = [(began, ended) for began, ended, is_allowed in charges if is_allowed]
        assert 4 <= len(passed) <= 9
        # The fourth was charged after the first had left the window, by the server's clock.
        pairs = zip(passed, passed[3:], strict=False)
        assert all(ended - began > 1 for (began, _), (_, ended) in pairs)
