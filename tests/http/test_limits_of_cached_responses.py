"""Limits, keys and log lines are exact, whether the worker's loop responds or a thread."""

import itertools
import time
from collections import Counter

import pytest

from tests.http.spellings import PATH, PATIENT, uncached
from tests.support import database, serving
from tests.support.database import made_key
from tests.support.http_client import Client, busy_threads

_sources = (f"127.0.1.{n}" for n in itertools.count(2))


@pytest.fixture(scope="module")
def server(own_index):
    """Ten requests a minute, as by default, and the response is cached."""
    with serving.gunicorn(own_index.url, RPC_URL=serving.NOWHERE, **PATIENT) as address:
        Client(address, next(_sources)).ask(PATH)
        yield address


def either(number):
    return uncached(PATH)[0] if number % 2 else PATH


def rest(responses):
    return sorted(int(one["X-RateLimit-Remaining"]) for one in responses if one.status == 200)


def test_the_loop_refuses_while_all_threads_are_busy(server, own_index):
    client = Client(server, next(_sources))
    with busy_threads(server, own_index.url):
        assert rest([client.ask(PATH) for _ in range(10)]) == list(range(10))
        for path, body in ((PATH, b""), ("/api/v1/nothing", b""), ("/api/v1/query", b"{}")):
            refused = client.ask(path, body)
            assert refused.status == 429 and int(refused["Retry-After"]) > 0


@pytest.mark.parametrize(
    "path", ["/api/v1/keys", "/api/v1/keys/", "//api/v1/keys", "/api/v1/%6beys"]
)
def test_a_new_key_is_charged_to_the_address_whatever_key_comes(server, own_index, path):
    key, client = made_key(own_index.url, 100), Client(server, next(_sources))
    more = f"X-API-Key: {key.text}\r\n"
    responses = [client.ask(path, b"{}", more) for _ in range(11)]
    assert [one.status for one in responses] == [400] * 10 + [429]
    assert {one["X-RateLimit-Limit"] for one in responses} == {"10"}
    assert client.ask("/api/v1/keys?owner=0x" + "00" * 20, more=more).status == 200


def test_a_key_is_charged_and_counted_exactly(server, own_index):
    key = made_key(own_index.url, 100)
    source = next(_sources)
    clients, more = [Client(server, source) for _ in range(8)], f"X-API-Key: {key.text}\r\n"
    # Each asks every second time for what is not cached.
    batches = serving.at_once(
        8, lambda of: [clients[of].ask(either(n), more=more) for n in range(20)]
    )
    batch = [response for responses in batches for response in responses]
    assert Counter(one.status for one in batch) == {200: 100, 429: 60}
    assert rest(batch) == list(range(100))
    count = "SELECT total_requests FROM api_keys WHERE id = %s"
    serving.wait_until(lambda: database.execute(own_index.url, count, key.id) == [(100,)])
    time.sleep(1)
    assert database.execute(own_index.url, count, key.id) == [(100,)]
    assert Client(server, source).ask(PATH)["X-RateLimit-Remaining"] == "9"


@pytest.mark.thorough
def test_a_proxy_names_who_is_charged_on_both_ways(own_index):
    with serving.gunicorn(
        own_index.url, RPC_URL=serving.NOWHERE, SCAN_TRUSTED_PROXIES="1", **PATIENT
    ) as server:
        client = Client(server)
        client.ask(PATH, more="X-Forwarded-For: 192.0.2.1\r\n")
        for named in ("192.0.2.2", "9.9.9.9, 192.0.2.3"):
            more = f"X-Forwarded-For: {named}\r\n"
            assert rest([client.ask(either(n), more=more) for n in range(12)]) == list(range(10))
        for number in range(10):  # several lines are one list
            several = f"X-Forwarded-For: 9.9.9.{number}\r\nX-Forwarded-For: 203.0.113.5\r\n"
            assert client.ask(either(number), more=several).status == 200
        assert client.ask(PATH, more="X-Forwarded-For: 203.0.113.5\r\n").status == 429
        with busy_threads(server, own_index.url):
            last = client.ask(PATH, more="X-Forwarded-For: 192.0.2.4\r\n")
        assert last["X-RateLimit-Remaining"] == "9"


def test_a_response_that_the_client_has_costs_no_request(server, own_index):
    key, client = made_key(own_index.url, 100), Client(server, next(_sources))
    tag = client.ask(PATH)["ETag"]
    have, keyed = f"If-None-Match: {tag}\r\n", f"X-API-Key: {key.text}\r\n"
    free = [client.ask(PATH, more=have) for _ in range(15)]
    assert {(one.status, one["X-RateLimit-Remaining"]) for one in free} == {(304, "9")}
    others = [client.ask(PATH, more='If-None-Match: "other"\r\n') for _ in range(9)]
    assert rest(others) == list(range(9))
    assert client.ask(PATH).status == 429
    full = client.ask(PATH, more=have)
    assert (full.status, full["X-RateLimit-Remaining"]) == (304, "0")
    assert client.ask(uncached(PATH)[0], more="If-None-Match: *\r\n").status == 429
    assert client.ask(PATH, more=f"{have}X-Scan-At-Least-Block: 1\r\n").status == 429
    assert client.ask(PATH, more=keyed).status == 200
    by_key = [client.ask(PATH, more=have + keyed) for _ in range(3)]
    states = {(one["X-RateLimit-Limit"], one["X-RateLimit-Remaining"]) for one in by_key}
    assert states == {("100", "99")}


def test_a_conditional_query_whose_body_does_not_come_holds_up_nobody(server):
    head = "POST /api/v1/query HTTP/1.1\r\nHost: scan\r\nContent-Type: application/json\r\n"
    with serving.connect(server) as waiting:
        waiting.sendall(f"{head}Content-Length: 20\r\nIf-None-Match: *\r\n\r\n".encode())
        assert Client(server, next(_sources)).ask(PATH).status == 200
