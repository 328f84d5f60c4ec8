"""What a process learns while it serves is gone with one call, before each test."""

import sys
from collections import deque
from collections.abc import Sized
from dataclasses import fields, is_dataclass
from types import ModuleType

import pytest

from app import create_app, renew
from scan.http.application import Application

# What the process has read of its own files, and the counters that Prometheus reads.
OWN_FILES = ("scan.database.statements", "scan.observability.metrics", "scan.registry")


@pytest.fixture
def served(indexed, scenario):
    """An application that has answered from database and node, refused, and cached."""
    app = create_app(indexed.settings)
    [client, sender] = [app.test_client(), scenario.anvil.accounts[0]]
    paths = ["/", "/api/v1/stats", "/api/v1/tokens", f"/address/{sender}", "/api/v1/no", "/docs/"]
    of_sender = ["transactions", "approvals", "history", "items"]
    paths += [f"/api/v1/addresses/{sender}{end}" for end in ("", *(f"/{n}" for n in of_sender))]
    for path in paths * 2:
        client.get(path, headers={"X-API-Key": "scan_unknown"} if path == "/" else {})
    return app


def reached(thing):
    """The instances of our classes that an object holds, however deep, itself among them."""
    seen, rest = set[int](), [thing]
    while rest:
        value = rest.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | Application):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            rest += [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            rest += value
        elif type(value).__module__.partition(".")[0] in ("scan", "app"):
            yield value
            rest += vars(value).values() if hasattr(value, "__dict__") else ()
        if bound := getattr(value, "__self__", None):
            rest.append(bound)


def state_of(app):
    permanent = {id(value) for value in reached(app.extensions["scan.permanent"])}
    roots = [app.extensions["scan"], app.extensions["scan.pages"], app.wsgi_app]
    return {id(value): value for value in reached(roots) if id(value) not in permanent}


def is_frozen(value):
    if is_dataclass(value):
        return all(isinstance(getattr(value, f.name), str | int | None) for f in fields(value))
    return isinstance(value, tuple | str | int | frozenset)


def test_a_renewed_application_holds_nothing_that_it_held_before(served):
    before = state_of(served)
    renew(served)
    after = state_of(served)
    assert len(after) > 30
    shared = [before[i] for i in before.keys() & after.keys() if not is_frozen(before[i])]
    assert not shared, [type(value) for value in shared]


def sizes():
    """How much each container that a module has made at its import holds."""
    return {
        f"{name}.{attribute}": len(value)
        for name, module in [*sys.modules.items()]
        if name.startswith("scan.") and name not in OWN_FILES
        for attribute, value in [*vars(module).items()]
        if isinstance(value, (dict, list, set, deque)) or type(value).__module__.startswith("scan.")
        if isinstance(value, Sized) and not isinstance(value, tuple)
    }


def test_requests_leave_nothing_in_a_module(served, indexed):
    before = sizes()
    other = indexed.client()
    for path in ("/", "/api/v1/tokens", "/api/v1/blocks/1/transactions", "/api/v1/transactions"):
        assert other.get(path).status_code == 200
    after = sizes()
    assert {name: after[name] for name in before if after.get(name) != before[name]} == {}


def test_what_one_test_has_cached_and_charged_is_not_there_in_the_next(indexed):
    client = indexed.client(rate_limit_anonymous="2/minute")
    assert [client.get("/api/v1/stats").status_code for _ in range(3)] == [200, 200, 429]
    renew(client.application)
    assert client.get("/api/v1/stats").headers["X-RateLimit-Remaining"] == "1"
