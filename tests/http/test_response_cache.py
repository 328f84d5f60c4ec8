"""Which responses are cached, how many, and for how long; which version counts as the newest."""

import time

import pytest

from scan.database import notifications
from scan.http import index_version, response_cache
from scan.http.request_state import CacheKey
from scan.server.responses import WsgiResponse
from tests.support.database import execute
from tests.support.serving import wait_until


class GivenVersion:
    """Stands for IndexVersion, at moments that a real one passes through too fast."""

    def __init__(self):
        self.version = 1
        self.rewinds = 0

    def newest(self):
        return self.version

    def may_be_newest(self, version):
        return version == self.version


@pytest.fixture
def version():
    return GivenVersion()


@pytest.fixture
def cache(version):
    return response_cache.ResponseCache(version)


def response(text):
    return WsgiResponse("200 OK", [], text)


@pytest.mark.check
def test_a_response_is_served_while_its_version_is_the_newest(cache, version):
    cache.store(CacheKey("/a"), response(b"old"), 1)
    assert cache.find(CacheKey("/a")) == response(b"old")
    for version.version in (None, 2):
        assert cache.find(CacheKey("/a")) is None
    cache.store(CacheKey("/a"), response(b"new"), 2)
    cache.store(CacheKey("/b"), response(b"old"), 1)
    assert cache.find(CacheKey("/a")) == response(b"new")
    assert cache.find(CacheKey("/b")) is None
    version.version = 1  # which never happens
    assert cache.find(CacheKey("/b")) is None


@pytest.mark.check
def test_responses_of_commits_that_a_failover_lost_are_gone(cache, version):
    """The same number then means something else."""
    version.version = 5
    cache.store(CacheKey("/a"), response(b"lost"), 5)
    version.rewinds = 1
    assert cache.find(CacheKey("/a")) is None
    version.version = 3
    cache.store(CacheKey("/b"), response(b"kept"), 3)
    assert cache.find(CacheKey("/b")) == response(b"kept")
    version.version = 5
    assert cache.find(CacheKey("/a")) is None


@pytest.mark.check
def test_a_large_response_is_not_kept_since_a_few_would_drop_all_others(cache):
    largest = response_cache.MAX_ENTRY_BYTES - response_cache.ENTRY_BYTES - len("/a")
    cache.store(CacheKey("/a"), response(bytes(largest)), 1)
    cache.store(CacheKey("/b"), response(bytes(largest + 1)), 1)
    assert cache.find(CacheKey("/a")) is not None and cache.find(CacheKey("/b")) is None


@pytest.mark.check
def test_all_that_a_key_holds_counts_as_memory(cache):
    """A client chooses the path, the query, the type of the body and the body."""
    keys, long = [], 1024 * 1024
    for number in range(40):
        keys += [
            CacheKey(f"/{number}".ljust(long)),
            CacheKey("/", f"{number}".ljust(long)),
            CacheKey("/", "", f"{number}".ljust(long)),
            CacheKey("/", "", "", f"{number}".encode().ljust(long)),
        ]
        for key in keys[-4:]:
            cache.store(key, response(b""), 1)
        assert cache.find(keys[-1]) is not None
        size = sum(sum(map(len, key)) for key in keys if cache.find(key))
        assert size <= response_cache.MAX_BYTES


@pytest.mark.check
def test_a_full_cache_drops_the_oldest_responses_alone(version):
    body, most_bytes = b"x" * 1000, 10 * (1000 + response_cache.ENTRY_BYTES + 3)
    cache = response_cache.ResponseCache(version, most_bytes)
    for number in range(25):
        for _ in range(2):  # as two threads do that have made the same one
            cache.store(CacheKey(f"/{number:02}"), response(body), 1)
    numbers = [number for number in range(25) if cache.find(CacheKey(f"/{number:02}"))]
    assert numbers == list(range(15, 25))


@pytest.mark.check
def test_few_responses_are_served_for_a_time(version):
    now = 100.0
    cache = response_cache.ResponseCache(version, clock=lambda: now)
    cache.store_for(CacheKey("/"), response(b"page"), 1.0)
    now = 100.9
    assert cache.find(CacheKey("/")) == response(b"page")
    now = 101.1
    assert cache.find(CacheKey("/")) is None
    keys = [CacheKey("/", f"host-{number}") for number in range(10 * response_cache.MAX_TIMED)]
    for key in keys:
        cache.store_for(key, response(b"page"), 60.0)
        assert sum(map(bool, map(cache.find, keys))) <= response_cache.MAX_TIMED


def listening(database):
    version = index_version.IndexVersion(notifications.Listener(database, index_version.CHANNEL))
    version.listen()
    return version


def notify(url, payload):
    execute(url, "SELECT pg_notify('scan_chain', %s)", payload)


def test_a_version_is_notified_or_read_and_never_counts_back(database, database_url):
    version = index_version.IndexVersion(notifications.Listener(database, index_version.CHANNEL))
    began_at = time.monotonic()
    version.record(7, began_at)
    assert version.newest() is None  # until the listener is connected
    version.listen()
    assert version.newest() == 7
    notify(database_url, "chain 8")
    wait_until(lambda: version.newest() == 8)
    notify(database_url, "labels 2")  # which are counted apart: 8 + 2
    wait_until(lambda: version.newest() == 10)
    for payload in ("chain 3", "labels 1", "chain x", "chain -5", "chain", "", "others 99"):
        notify(database_url, payload)
    version.record(9, began_at)  # of a statement that began before
    time.sleep(0.2)
    assert version.newest() == 10
    notify(database_url, "chain 9")
    assert version.notified(60.0) == 10  # there was a look less than a minute ago
    wait_until(lambda: version.notified() == 11)


@pytest.mark.parametrize("payload", ["chain 900000000000000000", "labels 8", "chain 2"])
def test_a_version_that_a_later_read_lacks_was_made_up(database, database_url, payload):
    address = bytes(20)
    execute(database_url, "INSERT INTO labels VALUES (%s, 'x')", address)
    version = listening(database)
    version.record(1, time.monotonic())
    notify(database_url, payload)
    wait_until(lambda: version.newest() not in (None, 1))
    version.record(1, time.monotonic())
    assert version.newest() is None  # until the listener is connected again
    wait_until(lambda: (version.listen(), version.newest() == 1)[1])
    assert version.rewinds == 0
    execute(database_url, "UPDATE labels SET label = 'y'")
    wait_until(lambda: version.newest() == 2)


def test_a_lower_version_read_later_shows_that_commits_were_lost(database):
    version = listening(database)
    began_at = time.monotonic()
    version.record(7, began_at)
    version.record(5, began_at)  # of a statement that began before, and may be older
    assert (version.newest(), version.rewinds) == (7, 0)
    version.record(5, time.monotonic())
    assert (version.newest(), version.rewinds) == (5, 1)


@pytest.mark.check
def test_without_a_listener_reading_alone_counts_and_for_a_moment():
    """Replicas may be behind each other."""
    version = index_version.IndexVersion(None)
    version.record(7, time.monotonic())
    version.record(5, time.monotonic())
    assert (version.newest(), version.rewinds) == (7, 0)
    version = index_version.IndexVersion(None)
    version.record(7, time.monotonic() - index_version.UNVERIFIED_ON_REPLICA_S)
    assert version.newest() is None
