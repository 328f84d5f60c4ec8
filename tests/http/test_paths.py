"""What a path costs and allows by itself: preflights, free files, unknown paths, ignored
parameters."""

import itertools

import pytest

from app import create_app
from scan.pages.site import url_of
from scan.parameters import without_ignored
from scan.settings import Settings
from tests.http.spellings import PATIENT
from tests.support import http_client, serving

HTML = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n"
FREE = "/healthz /readyz /metrics /api/v1/openapi.json /docs/ /docs/swagger-ui.css".split()
METHODS = {
    "/api/v1/webhooks/1": "DELETE, GET, HEAD, OPTIONS, PATCH",
    "/api/v1/query": "OPTIONS, POST",
    "//api/v1/blocks/": "GET, HEAD, OPTIONS",
    "/api": "GET, HEAD, OPTIONS, POST",
    "/nothing": "GET, HEAD, OPTIONS",
}

_addresses = (f"127.3.1.{n}" for n in itertools.count(1))


@pytest.fixture(scope="module")
def server(shared_database_url):
    """The default limits, but for pages: twelve."""
    environment = {"SCAN_RATE_LIMIT_PAGES": "12/minute", **PATIENT}
    with serving.gunicorn(shared_database_url, **environment) as address:
        yield address


def test_a_preflight_names_the_methods_of_the_routes_and_allows_named_headers(server):
    client = http_client.Client(server, "127.3.0.1")
    headers = "Access-Control-Request-Method: PATCH\r\nOrigin: https://example.com\r\n"
    for path, methods in METHODS.items():
        response = client.ask(path, method="OPTIONS", more=headers)
        assert (response.status, response.body) == (204, b"")
        assert response["Allow"] == response["Access-Control-Allow-Methods"] == methods
        assert response["Access-Control-Allow-Origin"] == "*"
        assert response["X-Content-Type-Options"] == "nosniff"
        allowed = set(response["Access-Control-Allow-Headers"].split(", "))
        assert {"Content-Type", "X-API-Key"} <= allowed
    named = "Access-Control-Request-Headers: authorization, x-anything\r\n"
    response = client.ask("/api/v1/blocks", method="OPTIONS", more=named)
    assert response["Access-Control-Allow-Headers"] == "authorization, x-anything"
    strange = "Access-Control-Request-Headers: a\xe4\tb\r\n"  # no line break gets in
    assert client.ask("/api/v1/blocks", method="OPTIONS", more=strange).status in (204, 400)


def test_no_spelling_of_a_path_is_free_of_limits(shared_server):
    rest = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    for path in (b"/api/v1/blocks", b"///api/v1/blocks"):
        assert b"X-RateLimit-Limit" in serving.exchange(shared_server, b"GET " + path + rest), path
    answer = serving.exchange(shared_server, b"GET api/v1/blocks?://" + rest)
    assert not answer.startswith(b"HTTP/1.1 200")


def test_files_are_served_whole_and_then_by_the_loop(shared_database_url):
    """Also for who asks for a part or a change first: the next one gets the same."""
    application = create_app(Settings(database_url=shared_database_url))
    client = application.test_client()
    partial = {"Range": "bytes=0-0", "If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}
    started = []
    for path in [*FREE[2:], "/docs", "/docs/index.css", url_of("scan.js")]:
        query = "" if path.startswith("/api/") else "?_=1"
        first = client.head(f"{path.rstrip('/')}//{query}", headers=partial)
        assert (first.status_code, first.data) == (200, b"")
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "REMOTE_ADDR": "192.0.2.1"}
        [body] = application.wsgi_app.step(
            environ, lambda status, headers: started.append((status, dict(headers)))
        )
        status, headers = started.pop()
        assert status == "200 OK" and str(len(body)) == headers["Content-Length"]
        assert len(body) == first.content_length


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/docs/nothing.js"), ("POST", "/healthz/"), ("GET with a body", "/readyz")],
)
def test_what_is_no_free_file_is_charged_as_a_page(server, method, path):
    client = http_client.Client(server, next(_addresses))
    body = b"{}" if method.endswith("body") else b""
    for page_is_left in [True] * 12 + [False]:
        response = client.ask(path, body=body, method=method.partition(" ")[0])
        assert (response.status != 429) == page_is_left
    assert client.ask("/healthz").status == 200


def test_a_body_or_a_query_makes_the_document_one_of_the_api(server):
    client = http_client.Client(server, next(_addresses))
    assert client.ask("/api/v1/openapi.json")["X-RateLimit-Remaining"] == "10"
    required = "X-Scan-At-Least-Block: 999999999\r\n"
    assert client.ask("/api/v1/openapi.json", more=required).status == 200  # it is of no block
    for remaining in ("9", "8"):
        response = client.ask("/api/v1/openapi.json", body=b"{}", method="GET")
        assert response["X-RateLimit-Remaining"] == remaining
    for query, status, remaining in (("_=1", 200, "7"), ("x=1", 400, "6")):
        response = client.ask(f"/api/v1/openapi.json?{query}")
        assert (response.status, response["X-RateLimit-Remaining"]) == (status, remaining)


def test_preflights_show_the_limit_and_are_not_charged(server):
    client = http_client.Client(server, "127.3.0.2")
    assert client.ask("/api/v1/nothing")["X-RateLimit-Remaining"] == "9"
    for _ in range(20):
        preflight = client.ask("/api/v1/keys", method="OPTIONS")
        assert (preflight["X-RateLimit-Limit"], preflight["X-RateLimit-Remaining"]) == ("10", "9")
    assert client.ask("/api/v1/nothing")["X-RateLimit-Remaining"] == "8"


def test_the_loop_answers_preflights_and_refuses_unknown_paths_while_threads_are_busy(
    server, shared_database_url
):
    client = http_client.Client(server, "127.3.0.4")
    for _ in range(12):
        assert client.ask("/no-page").status == 404
    with http_client.busy_threads(server, shared_database_url):
        assert client.ask("/api/v1/webhooks/1", method="OPTIONS").status == 204
        refused = client.ask("/wp-login.php")
        assert (refused.status, refused["X-RateLimit-Remaining"]) == (429, "0")
        assert b"rate_limited" in refused.body
        refused = client.ask("/nowhere", more=HTML)
        assert (refused.status, refused["Content-Type"]) == (429, "text/html; charset=utf-8")


def test_what_is_free_is_never_charged(server):
    client = http_client.Client(server, "127.3.0.5")
    for path in FREE * 15:
        assert client.ask(path).status == 200
    assert client.ask("/api/v1/keys", method="OPTIONS")["X-RateLimit-Remaining"] == "10"


@pytest.mark.parametrize("path", ["/no-page", "//x", "/docsx", "/api/v1x"])
def test_an_unknown_path_is_a_page_to_browsers_and_json_to_programs(server, path):
    client = http_client.Client(server, next(_addresses))
    browser = client.ask(path, more=HTML)
    assert (browser.status, browser["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert b"<!doctype html>" in browser.body.lower()
    assert "Content-Security-Policy" in browser
    for accept in ("", "Accept: */*\r\n", "Accept: application/json\r\n"):
        program = client.ask(path, more=accept)
        assert (program.status, program["Content-Type"]) == (404, "application/json")
        assert b'"code":"not_found"' in program.body
    assert (program["X-RateLimit-Limit"], program["X-RateLimit-Remaining"]) == ("12", "8")


def test_a_base_path_has_the_same_limits_and_methods(shared_database_url):
    client = create_app(Settings(database_url=shared_database_url, base_path="/bsc")).test_client()
    preflight = client.options("/bsc/api/v1/webhooks/1")
    assert preflight.headers["Allow"] == METHODS["/api/v1/webhooks/1"]
    missing = client.get("/bsc/no-page", headers={"Accept": "text/html"})
    assert missing.headers["X-RateLimit-Remaining"] == "119"
    for _ in range(20):
        document = client.get("/bsc/api/v1/openapi.json")
        assert (document.status_code, document.headers["X-RateLimit-Remaining"]) == (200, "10")


def test_pages_ignore_parameters_of_campaigns_and_the_api_refuses_them(client):
    campaign = "utm_source=a&UTM_Medium=b&fbclid=c&gclid=d&msclkid=e&mc_cid=f&mc_eid=g&igshid=h"
    for path in ("/txs?limit=50&", "/blocks?", "/tokens?", "/token-transfers?", "/accounts?"):
        plain = client.get(path[:-1])
        shared = client.get(f"{path}{campaign}&ref=i&_=1")
        assert (plain.status_code, shared.status_code) == (200, 200)
        assert shared.text == plain.text
    response = client.get("/api/v1/blocks?utm_source=a")
    assert (response.status_code, response.json["field"]) == (400, "utm_source")


def test_an_ignored_parameter_is_no_part_of_a_cache_key(indexed):
    client = indexed.client(log_format="text")
    middleware = client.application.wsgi_app
    for path, query in (
        ("/api/v1/blocks", "limit=3&_={}"),
        ("/api/v1/blocks", "%5Fcache={}&limit=3"),
        ("/api/v2/blocks", "_={}"),
        ("/txs", "limit=50&utm_source={}"),
    ):
        for number in (0, 1):  # nothing is kept before the process knows the newest version
            assert client.get(f"{path}?{query.format(number)}").status_code == 200
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "REMOTE_ADDR": "192.0.2.1"}
        environ["QUERY_STRING"] = query.format(2)
        assert middleware.step(environ, lambda status, headers: None) is not None


def test_other_parameters_stay_as_they_were_sent():
    query = "q=_a%20b&=1&&limit=%32&a_b=1"
    assert without_ignored(query, is_page=True) == without_ignored(query, is_page=False) == query
    assert without_ignored("ref=1&x=2&_&%5f=3", is_page=False) == "ref=1&x=2"
