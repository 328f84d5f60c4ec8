"""Parameters that caches, campaigns and trackers append: no view and no cache key has them."""

from dataclasses import replace

from app import create_app
from scan.parameters import without_ignored

SHARED = "utm_source=a&UTM_Medium=b&fbclid=c&gclid=d&msclkid=e&mc_cid=f&mc_eid=g&igshid=h&ref=i&_=1"


def test_pages_ignore_parameters_of_campaigns_and_the_api_refuses_them(client):
    for path in ("/txs?limit=50", "/blocks", "/tokens", "/token-transfers", "/accounts"):
        plain = client.get(path)
        shared = client.get(f"{path}{'&' if '?' in path else '?'}{SHARED}")
        assert (plain.status_code, shared.status_code) == (200, 200)
        assert shared.text == plain.text
    response = client.get("/api/v1/blocks?utm_source=a")
    assert (response.status_code, response.json["field"]) == (400, "utm_source")


def test_an_ignored_parameter_is_no_part_of_a_cache_key(indexed):
    application = create_app(replace(indexed.settings, log_format="text"))
    client, middleware = application.test_client(), application.wsgi_app
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
    sent = "q=_a%20b&=1&&limit=%32&a_b=1"
    assert without_ignored(sent, is_page=True) == without_ignored(sent, is_page=False) == sent
    assert without_ignored("ref=1&x=2&_&%5f=3", is_page=False) == "ref=1&x=2"
