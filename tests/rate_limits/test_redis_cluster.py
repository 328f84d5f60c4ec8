"""Counting in a cluster of Redis, whose windows are charged one after the other by threads."""

import pytest
from limits import parse

from scan.errors import Unavailable
from scan.rate_limits.limiter import make_limiter
from scan.rate_limits.window_storage import Window
from scan.settings import Settings
from tests.support import WAIT_S
from tests.support.database import execute, made_key
from tests.support.serving import at_once, frozen, gunicorn, redis_cluster, statuses, wait_until
from tests.support.source_address import new_client

pytestmark = pytest.mark.long


def test_a_lost_cluster_is_asked_once_and_comes_back(tmp_path):
    with redis_cluster(tmp_path) as (uri, process):
        limiter = make_limiter(Settings(rate_limit_storage=uri, rate_limit_anonymous="3/minute"))
        window = Window(limiter.anonymous_rate, "192.0.2.1")
        limiter.store.charge(window)
        with frozen(process):
            # Asked each time, a hundred would take 200 s.
            for _ in range(100):
                with pytest.raises(Unavailable):
                    limiter.store.charge(window)
                with pytest.raises(Unavailable):
                    limiter.store.charge(window, is_counted=False)

        def answers():
            try:
                return limiter.store.charge(window, is_counted=False).limit == 3
            except Unavailable:
                return False

        wait_until(answers)


def test_what_one_window_refuses_counts_in_no_other(tmp_path):
    with redis_cluster(tmp_path) as (uri, _):
        store = make_limiter(Settings(rate_limit_storage=uri)).store
        narrow, full = Window(parse("2/minute"), "a"), Window(parse("1/minute"), "b")
        assert store.charge(full).allowed
        assert not any(store.charge(narrow, full).allowed for _ in range(5))
        assert store.charge(narrow, is_counted=False).remaining == 2


def test_exactly_ten_pass_over_the_worker(shared_database_url, tmp_path):
    with (
        redis_cluster(tmp_path) as (uri, _),
        gunicorn(shared_database_url, SCAN_RATE_LIMIT_STORAGE=uri) as server,
    ):
        client = new_client()
        responses = at_once(50, lambda _: client.get(f"{server}/api/v1/keys", timeout=WAIT_S))
        assert statuses(responses) == {400: 10, 429: 40}
        key = made_key(shared_database_url, 20)
        form = {"module": "contract", "action": "checkverifystatus", "apikey": key.text}
        forms = at_once(30, lambda _: client.post(f"{server}/api", data=form, timeout=WAIT_S))
        refused = ["Max rate limit" in answer.text for answer in forms]
        assert (refused.count(False), refused.count(True)) == (20, 10)
        counted = "SELECT total_requests FROM api_keys WHERE id = %s"
        wait_until(lambda: execute(shared_database_url, counted, key.id) == [(20,)])
