"""Rate limits through real servers: how many pass, who is counted, what the headers say."""

import re
import time
from functools import partial

import pytest
import requests

from app import create_app, renew
from scan.settings import Settings
from tests.support import WAIT_S
from tests.support.wallets import key_request, new_wallet
from tests.support.watched_database import WatchedDatabase


@pytest.fixture
def ask(shared_database_url):
    """Asks a service of the test's own, with the default limits."""
    client = create_app(Settings(database_url=shared_database_url)).test_client()
    return partial(client.get, environ_base={"REMOTE_ADDR": "192.0.2.1"})


def remaining(answers):
    return [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]


def test_failed_requests_count_and_a_refusal_says_when_to_come_back(ask):
    paths = ["/api/v1/nothing", "/api/v1/keys?owner=bad"] * 5
    assert remaining(map(ask, paths)) == list(range(9, -1, -1))
    refused = ask("/api/v1/nothing")
    assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert 0 < int(refused.headers["X-RateLimit-Reset"]) - time.time() <= 61
    assert refused.headers["RateLimit-Policy"] == '"requests";q=10;w=60'
    assert re.fullmatch(r'"requests";r=0;t=[1-6]?[0-9]', refused.headers["RateLimit"])


def test_claims_about_the_sender_give_no_fresh_bucket(ask):
    claims = [
        {"X-Forwarded-For": "198.51.100.1"},
        {"X-Real-IP": "198.51.100.2"},
        {"Forwarded": "for=198.51.100.3"},
        {"X-Forwarded-For": "198.51.100.4", "X-Real-IP": "198.51.100.4", "Via": "1.1 proxy"},
        {"True-Client-IP": "198.51.100.5", "CF-Connecting-IP": "198.51.100.5"},
    ]
    answers = [ask("/api/v1/keys", headers=claim) for claim in claims * 2]
    assert remaining(answers) == list(range(9, -1, -1))
    assert ask("/api/v1/keys", headers={"X-Forwarded-For": "198.51.100.6"}).status_code == 429


def test_every_answer_of_the_api_tells_the_limit(shared_server):
    owner = "/api/v1/keys?owner=0x" + "00" * 20
    bodies = [("POST", "/api/v1/keys", body) for body in (b"{", b"x" * (1024 * 1024 + 1))]
    without = [("GET", path, None) for path in (owner, "/api/v1/no/path", "/api/v1/", "/api/v1")]
    others = [("HEAD", owner, None), ("PUT", "/api/v1/keys", None), ("OPTIONS", owner, None)]
    for method, path, body in (*bodies, *without, *others):
        kind = {"Content-Type": "application/json"}
        response = requests.request(
            method, shared_server + path, data=body, headers=kind, timeout=WAIT_S
        )
        assert response.headers["X-RateLimit-Limit"] == "100000"
        assert 0 <= int(response.headers["X-RateLimit-Remaining"]) <= 100000
        assert int(response.headers["X-RateLimit-Reset"]) > time.time() - 1
        exposed = response.headers["Access-Control-Expose-Headers"]
        assert {"X-RateLimit-Remaining", "Retry-After"} <= set(exposed.split(", "))


def test_keys_are_looked_up_only_within_the_ceiling_of_the_address(shared_database_url):
    """A stranger with made-up keys costs the database no more; who has a key pays for it once."""
    settings = Settings(
        database_url=shared_database_url,
        rate_limit_address="5/minute",
        rate_limit_anonymous="20/minute",
    )
    looked_up = []

    def note(statement, *_):
        looked_up.extend([statement] * statement.startswith("accounts/api_keys_find"))

    application = create_app(settings)
    database = WatchedDatabase(shared_database_url, note)
    permanent = application.extensions["scan.permanent"]
    application.extensions["scan.permanent"] = permanent._replace(writes=database)
    renew(application)

    def ask(key, address):
        headers = {"X-API-Key": key, "X-Scan-Limit-Key": "address"}
        environment = {"REMOTE_ADDR": address}
        client = application.test_client()
        return client.get("/api/v1/keys", headers=headers, environ_base=environment).status_code

    made_up = [ask(f"scan_{number:064x}", "192.0.2.1") for number in range(100, 150)]
    assert made_up == [401] * 5 + [429] * 45 and len(looked_up) == 5
    body = key_request(new_wallet())
    key = application.test_client().post("/api/v1/keys", json=body).get_json()["key"]
    assert [ask(key, "192.0.2.2") for _ in range(6)] == [400] * 5 + [429]
