"""Counting while Redis is away."""

import time

import pytest
import requests
from prometheus_client import REGISTRY
from redis import Redis

from app import create_app
from scan.rate_limits.limiter import make_limiter
from scan.rate_limits.window_storage import PROBE_EVERY_S, Window
from scan.settings import Settings
from tests.support import WAIT_S, serving

pytestmark = pytest.mark.thorough


def test_without_its_redis_a_process_counts_by_itself_where_that_is_chosen(tmp_path):
    port = serving.free_port()
    limiter = make_limiter(
        Settings(
            rate_limit_storage=f"redis://127.0.0.1:{port}",
            rate_limit_anonymous="2/minute",
            rate_limit_when_storage_is_lost="local",
        )
    )

    def is_allowed():
        return limiter.store.charge(Window(limiter.anonymous_rate, "192.0.2.1")).allowed

    assert [is_allowed() for _ in range(3)] == [True, True, False]
    with serving.redis_server(tmp_path, port):
        serving.wait_until(is_allowed)
        assert is_allowed()
        assert not is_allowed()


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    ],
)
def test_a_redis_that_only_reads_is_down_until_it_counts(
    shared_database_url, tmp_path, fault, remedy
):
    """Full, or a replica: it answers PING and whatever reads a window."""
    with serving.redis_server(tmp_path) as storage, Redis.from_url(storage) as redis:
        settings = Settings(
            database_url=shared_database_url,
            rate_limit_storage=storage,
            rate_limit_anonymous="1000/minute",
        )
        client = create_app(settings).test_client()

        def state():
            up = REGISTRY.get_sample_value("scan_rate_limit_storage_up")
            return up, *(client.get(path).status_code for path in ("/readyz", "/api/v1/keys"))

        assert state() == (1, 200, 400)
        redis.execute_command(fault)
        serving.wait_until(lambda: client.get("/readyz").status_code == 503)  # cached for a second
        for _ in range(5):
            assert state() == (0, 503, 503)
            time.sleep(2 * PROBE_EVERY_S)
        redis.execute_command(remedy)
        serving.wait_until(lambda: state() == (1, 200, 400))


# With the statuses of a request for keys and of /readyz meanwhile.
@pytest.mark.parametrize(
    ("when_lost", "status", "ready"),
    [("refuse", 503, 503), pytest.param("local", 400, 200, marks=pytest.mark.long)],
)
def test_a_frozen_redis_holds_up_nobody(shared_database_url, tmp_path, when_lost, status, ready):
    """Others wait for the time-out of the exchange under way at most; healthz waits for nothing."""
    with serving.redis_server(tmp_path) as storage:
        redis = Redis.from_url(storage).info("server")["process_id"]
        with serving.gunicorn(
            shared_database_url,
            SCAN_RATE_LIMIT_STORAGE=storage,
            SCAN_RATE_LIMIT_WHEN_STORAGE_IS_LOST=when_lost,
        ) as server:
            assert requests.get(f"{server}/api/v1/keys", timeout=WAIT_S).status_code == 400
            with serving.frozen(redis):
                answers = serving.at_once(
                    20,
                    lambda n: requests.get(
                        server + ("/healthz" if n % 2 else "/api/v1/keys"), timeout=WAIT_S
                    ),
                )
                assert serving.statuses(answers[1::2]) == {200: 10}
                assert serving.statuses(answers[::2]) == {status: 10}
                assert requests.get(f"{server}/readyz", timeout=WAIT_S).status_code == ready
            serving.wait_until(
                lambda: requests.get(f"{server}/readyz", timeout=WAIT_S).status_code == 200
            )
