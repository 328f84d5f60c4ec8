"""The pages as HTML: what they show, how they are cached, and that hostile text stays text."""

import re

import pytest

from tests.support import faulty_node, indexing


@pytest.mark.parametrize(
    ("text", "path", "status", "words"),
    [
        (64 * "F", f"/tx/0x{64 * 'f'}", 404, "may never have been sent, or"),
        ("0X" + 20 * "aB", f"/address/0x{20 * 'ab'}", 200, "No transactions"),
    ],
)
def test_a_search_for_what_is_not_indexed_leads_to_the_page_that_says_so(
    client, text, path, status, words
):
    assert client.get("/api/v1/search", query_string={"q": text}).json["results"] == []
    moved = client.get("/search", query_string={"q": text})
    assert (moved.status_code, moved.headers["Location"]) == (302, path)
    shown = client.get(path, headers={"Accept": "text/html"})
    assert shown.status_code == status and words in shown.text
    block = client.get("/api/v1/blocks?limit=1").json["blocks"][0]["hash"]
    assert "This is the hash of a block" in client.get(f"/tx/{block}").text


def test_malformed_finality_is_read_again(truth, scenario_node, indexed):
    client = indexing.client_over(indexed.url, scenario_node.url)
    path = f"/api/v1/transactions/{truth.transactions[-1]['hash']}"
    for lie in ("[]", '{"number":"0xzz"}', "7"):
        scenario_node.fault = faulty_node.every_result(lie)
        assert client.get("/api/v1/stats/finality").json["safeBlock"] is None
        assert client.get(path).json["finality"] is None
    scenario_node.fault = None
    assert client.get(path).json["finality"] == "finalized"
    assert client.get("/api/v1/stats/finality").json["safeBlock"] is not None


def test_a_page_that_does_not_exist_is_told_in_words_of_pages(client):
    response = client.get("/block/1/2", headers={"Accept": "text/html,*/*;q=0.8"})
    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "There is no page at this address." in response.text
    assert 'role="search"' in response.text and 'the <a href="/">home page</a>' in response.text


def test_the_other_method_is_refused_as_a_page(client):
    answer = client.post("/blocks")
    assert (answer.status_code, answer.mimetype) == (405, "text/html")
    assert "<h1>Invalid request</h1>" in answer.text
    assert client.post("/search").headers["Allow"]


def test_static_files_name_their_content(client):
    paths = re.findall(r'"(/static/[0-9a-f]{12}/[\w.]+)"', client.get("/").text)
    assert len(paths) > 3
    for path in paths:
        answer = client.get(path)
        assert "immutable" in answer.headers["Cache-Control"]
        assert "X-RateLimit-Limit" not in answer.headers
        older = re.sub("/[0-9a-f]{12}/", "/000000000000/", path)
        assert client.get(older).headers["Cache-Control"] == "no-store"
    assert client.get("/static/0/../site.py").status_code == 404


def test_pages_have_a_limit_of_their_own(indexed):
    limited = indexed.client(rate_limit_pages="3/minute", rate_limit_anonymous="2/hour")
    assert [limited.get("/blocks").status_code for _ in range(5)] == [200] * 3 + [429] * 2
    refused = limited.get("/")
    assert (refused.status_code, refused.mimetype) == (429, "text/html")
    assert 1 <= int(refused.headers["Retry-After"]) <= 61
    assert "Content-Security-Policy" in refused.headers
    assert limited.get("/api/v1/stats").headers["X-RateLimit-Remaining"] == "1"
    css = re.search(r"/static/[^\"]+css", refused.text)
    assert css and limited.get(css[0]).status_code == 200


def test_pages_can_be_left_out(indexed):
    client = indexed.client(pages=False)
    assert client.get("/").json["documentation"] == "/docs/"
    for path in ("/blocks", "/search", "/static/0/scan.css"):
        answer = client.get(path)
        assert (answer.status_code, answer.mimetype) == (404, "application/json")


def test_the_chain_has_a_name_and_a_coin(indexed):
    page = indexed.client(chain_name="Harbor <b>", coin_symbol="HRB").get("/txs").text
    assert "Harbor &lt;b&gt;" in page and "<bdi>HRB</bdi>" in page


@pytest.mark.check
def test_home_says_why_nothing_else_answers():
    client = indexing.client_over("postgresql://127.0.0.1:9/nothing")
    answer = client.get("/")
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
    assert answer.mimetype == "text/html" and "database cannot be reached" in answer.text
    assert client.get("/blocks").status_code == 503
