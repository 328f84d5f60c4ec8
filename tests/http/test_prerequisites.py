"""Requests that cannot be answered now are refused by the loop, and take no thread."""

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from app import create_app
from scan.http.middleware import Middleware
from scan.http.services import Services
from scan.settings import Settings

ADDRESS = "0x" + "c0" * 20
CALLS = [
    ("POST", f"/api/v1/contracts/{ADDRESS}/call", ""),
    ("POST", f"/address/{ADDRESS}/call", ""),
    ("GET", "/api", "module=proxy&action=eth_blockNumber"),
    ("GET", "/v2/api", "Module=Proxy&Action=ETH_CALL"),
    ("GET", "/api/", "module=account&action=tokenbalance"),
    ("GET", "/api", "module=stats&action=tokensupply&x=1"),
]
VERIFICATIONS = [("POST", "/api/v1/verify", ""), ("POST", f"/address/{ADDRESS}/verify", "")]
OTHERS = [
    ("GET", "/api/v1/blocks", ""),
    ("GET", f"/api/v1/contracts/{ADDRESS}/call", ""),
    ("GET", "/api", "module=proxy&action=nothing"),
    ("GET", "/api", "module=account&action=txlist"),
    ("GET", "/nothing", ""),
    ("POST", f"/v2/verify/1/{ADDRESS}", ""),
]
Begin = Callable[[tuple[str, str, str]], str | None]


@pytest.fixture
def app(shared_database_url: str) -> Iterator[Any]:
    yield create_app(Settings(database_url=shared_database_url, rate_limit_anonymous="1000/minute"))


@pytest.fixture
def services(app: Any) -> Services:
    served: Services = app.extensions["scan"]
    return served


@pytest.fixture
def begin(app: Any) -> Begin:
    """The status of what the loop answers; None where it leaves a request to a thread."""
    middleware: Middleware = app.wsgi_app

    def ask(request: tuple[str, str, str]) -> str | None:
        method, path, query = request
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_ADDR": "192.0.2.1",
            "wsgi.input": io.BytesIO(),
        }
        if method == "POST":
            environ |= {"CONTENT_LENGTH": "5000000", "CONTENT_TYPE": "application/json"}
        started: list[str] = []
        body = middleware.step(environ, lambda status, headers: started.append(status))
        assert (body is None) == (not started)
        return started[0] if started else None

    return ask


def test_where_there_is_no_place_it_is_refused_at_once_before_its_body(
    begin: Begin, services: Services
) -> None:
    assert {begin(each) for each in (*CALLS, *VERIFICATIONS, *OTHERS)} == {None}
    with ExitStack() as held:
        for client in ("a", "a", "b"):
            held.enter_context(services.waiting_threads.place_for_long(client))
        # One place is left, for the node alone.
        assert {begin(each) for each in VERIFICATIONS} == {"503 Service Unavailable"}
        assert {begin(each) for each in (*CALLS, *OTHERS)} == {None}
        held.enter_context(services.waiting_threads.place("b", wait_s=0.0))
        services.waiting_threads._changed_hands_at -= 60
        refused = {each: begin(each) for each in (*CALLS, *VERIFICATIONS)}
        assert {begin(each) for each in OTHERS} == {None}
    # Etherscan's clients read no other status than 200.
    for (_, path, _), status in refused.items():
        assert status == ("200 OK" if "api" in path.rstrip("/")[-4:] else "503 Service Unavailable")
    assert {begin(each) for each in (*CALLS, *VERIFICATIONS)} == {None}


def test_a_client_with_its_share_of_places_is_refused_and_no_other(
    begin: Begin, services: Services
) -> None:
    client = "192.0.2.1"
    for holder, status in (("192.0.2.2", None), (client, "429 Too Many Requests")):
        with ExitStack() as held:
            for _ in range(2):
                held.enter_context(services.waiting_threads.place(holder, wait_s=0.0))
            services.waiting_threads._changed_hands_of[holder] -= 60
            assert begin(CALLS[0]) == status
