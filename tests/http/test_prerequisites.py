"""Requests that cannot be answered now are refused by the loop, and take no thread."""

from contextlib import ExitStack

import pytest
from werkzeug.test import create_environ

from app import create_app
from scan.concurrency.turns import QUEUED_PER_CLIENT
from scan.errors import ClientBusy
from scan.settings import Settings


def test_where_there_is_no_place_it_is_refused_at_once_before_its_body(shared_database_url):
    app = create_app(Settings(database_url=shared_database_url, rate_limit_anonymous="1000/minute"))
    threads = app.extensions["scan"].waiting_threads
    client, address = "192.0.2.1", "0x" + "c0" * 20
    large = {"CONTENT_LENGTH": "5000000", "CONTENT_TYPE": "application/json"}

    def begun(requests):
        """The statuses of what the loop answers; None where it leaves a request to a thread."""
        statuses = {}
        for method, path, query in requests:
            environ = create_environ(path, method=method, query_string=query)
            environ |= {"REMOTE_ADDR": client, "PATH_INFO": path}
            environ |= {"POST": large}.get(method, {})
            started = [None]
            app.wsgi_app.step(environ, lambda status, _, started=started: started.append(status))
            statuses[method, path, query] = started[-1]
        return statuses

    calls = {
        ("POST", f"/api/v1/contracts/{address}/call", ""): "429 Too Many Requests",
        ("POST", f"/address/{address}/call", ""): "429 Too Many Requests",
        # Etherscan's clients read no other status.
        ("GET", "/v2/api", "Module=Proxy&Action=ETH_CALL"): "200 OK",
        ("GET", "/api/", "module=account&action=tokenbalance"): "200 OK",
    }
    verifications = {
        ("POST", "/api/v1/verify", ""): "503 Service Unavailable",
        ("POST", f"/address/{address}/verify", ""): "503 Service Unavailable",
    }
    others = [
        ("GET", "/api/v1/blocks", ""),
        ("GET", f"/api/v1/contracts/{address}/call", ""),
        ("GET", "/api", "module=account&action=txlist"),
        ("POST", f"/v2/verify/1/{address}", ""),
    ]
    everything = [*calls, *verifications, *others]
    assert {*begun(everything).values()} == {None}
    with ExitStack() as stack:
        for other in ("a", "b", "c"):
            stack.enter_context(threads.place_for_long(other))
        # One place is left, for the node alone.
        assert begun(verifications) == verifications
        assert {*begun([*calls, *others]).values()} == {None}
        stack.enter_context(threads.place_in_turn("d"))
        assert {*begun([*calls, *others]).values()} == {None}  # they wait for their turn
        turns = [threads.queue(client) for _ in range(QUEUED_PER_CLIENT)]
        with pytest.raises(ClientBusy):
            threads.queue(client)
        assert begun(everything) == {**calls, **verifications, **dict.fromkeys(others)}
        for turn in turns:
            turn.leave()
    assert {*begun(everything).values()} == {None}
