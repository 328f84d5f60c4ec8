"""Whatever parses JSON of a request, bounded: of the core, scan.extensions.sourcify,
scan.extensions.etherscan and scan.extensions.mcp."""

import json

import pytest

from scan import json_bodies
from scan.extensions.mcp import interface
from tests.support.entry_points import BODIES, application, path_of

__all__ = ["application"]

pytestmark = pytest.mark.check


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_route_parses_json_beyond_its_bounds(application, monkeypatch, body):
    """Whatever parser it uses: the text has been checked before."""
    loads, checked = json.loads, json_bodies.check_json
    texts = []

    def check(text, *most):
        texts.append(text)
        checked(text, *most)

    def parse(text, **hooks):
        assert len(text) < 1000, "a body was parsed that is beyond its bounds"
        return loads(text, **hooks)

    monkeypatch.setattr(json_bodies, "check_json", check)
    monkeypatch.setattr(interface, "check_json", check)
    for module in ("json", "orjson"):
        monkeypatch.setattr(f"{module}.loads", parse)
    statuses = {}
    client = application.test_client()
    for rule in application.url_map.iter_rules():
        for method in (rule.methods or set()) & {"POST", "PATCH", "PUT"}:
            send = getattr(client, method.lower())
            response = send(path_of(rule), data=body, content_type="application/json")
            statuses[method, rule.rule] = response.status_code
    assert {route for route, status in statuses.items() if status == 500} == set()
    # Those that read a body as JSON without a key; others refuse before they read it.
    sourcify = "/v2/verify/<chain_id>/<address>"
    for route in ("/mcp", "/api/v1/query", "/api/v1/verify", "/api/v1/keys", sourcify):
        assert statuses["POST", route] in (400, 413), route
    assert len(texts) >= 5
