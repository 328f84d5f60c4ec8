"""An instance that answers only who has a key or a session."""

import pytest
from werkzeug.test import Client

from tests.support.database import made_key

MUCH = "100000/minute"
LIMITS = {"rate_limit_pages": MUCH, "rate_limit_address": MUCH, "rate_limit_anonymous": MUCH}
UNKNOWN = "scan_" + 64 * "0"


@pytest.fixture(scope="module")
def private(own_index):
    """Its application; the responses of the pages that tests ask for are in its cache."""
    client = own_index.client(access="keys", **LIMITS)
    key = made_key(own_index.url, 100_000)
    for path in ("/", "/blocks", "/api/v1/blocks", "/api/v1/stats", "/docs/"):
        assert client.get(path, headers={"X-API-Key": key.text}).status_code == 200
    return client.application


@pytest.fixture
def key(own_index):
    return made_key(own_index.url, 100_000)


@pytest.fixture
def ask(private):
    """Asks as a new client without cookies; `environ` is of the WSGI request."""

    def ask(path, method="GET", environ=None, **headers):
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        client = Client(private, use_cookies=False)
        return client.open(path, method=method, headers=fields, environ_overrides=environ or {})

    return ask


def seen(response):
    """What a client sees of a response, but for the request's id."""
    headers = {(k, v) for k, v in response.headers.items() if k != "X-Request-Id"}
    return response.status, frozenset(headers), response.data
