"""Requests that cannot be answered now are refused by the loop, and take no thread."""

from contextlib import ExitStack

import pytest
from werkzeug.test import create_environ

from app import create_app
from scan.concurrency.turns import QUEUED_PER_CLIENT
from scan.errors import ClientBusy
from scan.settings import Settings

CLIENT = "192.0.2.1"
ADDRESS = "0x" + "c0" * 20
CALLS = [
    ("POST", f"/api/v1/contracts/{ADDRESS}/call", ""),
    ("POST", f"/address/{ADDRESS}/call", ""),
    ("GET", "/api", "module=proxy&action=eth_blockNumber"),
    ("GET", "/v2/api", "Module=Proxy&Action=ETH_CALL"),
    ("GET", "/api/", "module=account&action=tokenbalance"),
    ("GET", "/api", "module=stats&action=tokensupply&x=1"),
]


@pytest.fixture
def app(shared_database_url):
    yield create_app(Settings(database_url=shared_database_url, rate_limit_anonymous="1000/minute"))


@pytest.fixture
def services(app):
    return app.extensions["scan"]


@pytest.fixture
def begin(app):
    """The status of what the loop answers; None where it leaves a request to a thread."""
    large = {"CONTENT_LENGTH": "5000000", "CONTENT_TYPE": "application/json"}

    def ask(request):
        method, path, query = request
        environ = create_environ(path, method=method, query_string=query)
        environ |= {"REMOTE_ADDR": CLIENT, "PATH_INFO": path, **(large if method == "POST" else {})}
        started = [None]
        body = app.wsgi_app.step(environ, lambda status, headers: started.append(status))
        assert (body is None) == (started[-1] is None)
        return started[-1]

    return ask


def test_where_there_is_no_place_it_is_refused_at_once_before_its_body(begin, services):
    others = [
        ("GET", "/api/v1/blocks", ""),
        ("GET", f"/api/v1/contracts/{ADDRESS}/call", ""),
        ("GET", "/api", "module=proxy&action=nothing"),
        ("GET", "/api", "module=account&action=txlist"),
        ("GET", "/nothing", ""),
        ("POST", f"/v2/verify/1/{ADDRESS}", ""),
    ]
    verifications = [("POST", "/api/v1/verify", ""), ("POST", f"/address/{ADDRESS}/verify", "")]
    assert {begin(call) for call in (*CALLS, *verifications, *others)} == {None}
    with ExitStack() as stack:
        for client in ("a", "b", "c"):
            stack.enter_context(services.waiting_threads.place_for_long(client))
        # One place is left, for the node alone.
        assert {begin(call) for call in verifications} == {"503 Service Unavailable"}
        assert {begin(call) for call in (*CALLS, *others)} == {None}
        stack.enter_context(services.waiting_threads.place_in_turn("d"))
        assert {begin(call) for call in (*CALLS, *others)} == {None}  # they wait for their turn
        turns = [services.waiting_threads.queue(CLIENT) for _ in range(QUEUED_PER_CLIENT)]
        with pytest.raises(ClientBusy):
            services.waiting_threads.queue(CLIENT)
        refused = {call: begin(call) for call in (*CALLS, *verifications)}
        assert {begin(call) for call in others} == {None}
        for turn in turns:
            turn.leave()
    refusals = {
        **dict.fromkeys(CALLS[:2], "429 Too Many Requests"),
        **dict.fromkeys(CALLS[2:], "200 OK"),  # Etherscan's clients read no other status
        **dict.fromkeys(verifications, "503 Service Unavailable"),
    }
    assert refused == refusals
    assert {begin(call) for call in (*CALLS, *verifications)} == {None}
