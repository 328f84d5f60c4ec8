"""Counting in a cluster of Redis, whose windows are charged one after the other by threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.errors import SettingError, Unavailable
from scan.rate_limits.limiter import make_limiter
from scan.rate_limits.window_storage import Window
from scan.settings import Settings
from tests.support import WAIT_S
from tests.support.database import execute, made_key
from tests.support.serving import at_once, frozen, gunicorn, redis_cluster, statuses, wait_until
from tests.support.source_address import new_client

pytestmark = pytest.mark.long


def test_a_cluster_that_is_away_at_the_start_stops_it():
    with pytest.raises(SettingError, match="SCAN_RATE_LIMIT_STORAGE"):
        make_limiter(Settings(rate_limit_storage="redis+cluster://127.0.0.1:1"))


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


def test_a_frozen_cluster_holds_up_nobody(shared_database_url, tmp_path):
    """/healthz is answered while all that is counted waits for the first time-out."""
    with (
        redis_cluster(tmp_path) as (uri, process),
        gunicorn(
            shared_database_url,
            SCAN_RATE_LIMIT_STORAGE=uri,
            SCAN_RATE_LIMIT_WHEN_STORAGE_IS_LOST="local",
        ) as server,
    ):
        client = new_client()
        assert client.get(f"{server}/api/v1/keys", timeout=WAIT_S).status_code == 400
        with frozen(process), ThreadPoolExecutor(40) as pool:
            url = f"{server}/api/v1/keys"
            counted = [pool.submit(new_client().get, url, timeout=WAIT_S) for _ in range(40)]
            healthz = [client.get(f"{server}/healthz", timeout=WAIT_S) for _ in range(20)]
            assert not any(future.done() for future in counted)  # these wait; healthz did not
            assert statuses(healthz) == {200: 20}
            responses = [future.result() for future in counted]
            assert statuses(responses) == {400: 40}
            assert "X-RateLimit-Limit" in responses[0].headers
            assert client.options(url, timeout=WAIT_S).status_code == 204
        wait_until(lambda: new_client().get(url, timeout=WAIT_S).status_code == 400)
