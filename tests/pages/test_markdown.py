"""Pages as Markdown, for programs that read text."""

import pytest
from flask.testing import FlaskClient

from scan.errors import TooLarge
from scan.pages.markdown import MAX_HTML_BYTES, to_markdown

MARKDOWN = {"Accept": "text/markdown, */*;q=0.1"}


def test_pages_are_served_as_markdown_to_those_who_prefer_it(client: FlaskClient) -> None:
    newest = client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    paths = ("/", "/blocks", "/txs", "/tokens", "/contracts", f"/tx/{newest['hash']}")
    for path in (*paths, f"/address/{newest['fromAddress']}", f"/block/{newest['blockNumber']}"):
        response = client.get(path, headers=MARKDOWN)
        assert response.content_type == "text/markdown; charset=utf-8", path
        assert response.text.startswith("# "), path
        assert "<div" not in response.text and "Skip to content" not in response.text
    page = client.get(f"/tx/{newest['hash']}", headers=MARKDOWN).text
    assert newest["fromAddress"] in page and f"](/block/{newest['blockNumber']})" in page


def test_a_cached_page_is_not_given_in_the_other_form(client: FlaskClient) -> None:
    for _ in range(2):
        assert client.get("/blocks").content_type.startswith("text/html")
        assert client.get("/blocks", headers=MARKDOWN).content_type.startswith("text/markdown")


def test_caches_are_told_that_a_page_has_two_forms(client: FlaskClient) -> None:
    for path in ("/", "/blocks", "/gas", f"/address/0x{'12' * 20}"):
        for headers in (MARKDOWN, {"Accept": "text/html"}):
            for _ in range(2):  # the second may come from our own cache
                response = client.get(path, headers=headers)
                assert response.headers.getlist("Vary") == ["Accept"], (path, headers)


@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/html", "text/html,text/markdown;q=0.5", "text/markdown;q=0"]
)
def test_others_get_html(client: FlaskClient, accept: str) -> None:
    response = client.get("/blocks", headers={"Accept": accept})
    assert response.content_type.startswith("text/html")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/block/999999", 404), ("/tx/0x12", 400), ("/tokens?page=x", 400), ("/no", 404)],
)
def test_errors_are_json_for_programs_and_pages_for_people(
    client: FlaskClient, path: str, status: int
) -> None:
    response = client.get(path, headers=MARKDOWN)
    assert response.status_code == status
    assert response.content_type == "application/json" and response.json["code"]
    both = {"Accept": "text/html, text/markdown;q=0.5"}
    assert client.get(path, headers=both).content_type.startswith("text/html")


@pytest.mark.check
def test_hostile_text_does_not_become_markup() -> None:
    name = "&lt;script&gt;x&lt;/script&gt; [click](javascript:1) | # head"
    html = f"<main><h1>Token</h1><table><tr><td>{name}</td></tr></table></main>"
    text = to_markdown(html)
    assert "[click](" not in text
    assert "<script>" not in text


@pytest.mark.check
def test_a_page_too_large_is_refused() -> None:
    with pytest.raises(TooLarge):
        to_markdown("<main>" + "x" * MAX_HTML_BYTES + "</main>")


def test_parts_of_pages_are_markdown_too(client: FlaskClient) -> None:
    for path in ("/live", "/search/suggestions?q=a"):
        assert client.get(path, headers=MARKDOWN).status_code == 200


def test_what_is_never_charged_is_served_from_the_cache_whatever_is_accepted(
    client: FlaskClient,
) -> None:
    for path in ("/readyz", "/llms.txt", "/api/v1/openapi.json"):
        bodies = {client.get(path, headers={"Accept": a}).data for a in ("text/markdown", "*/*")}
        assert len(bodies) == 1, path
