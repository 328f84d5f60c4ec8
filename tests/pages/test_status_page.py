"""/status, the state of the index for people, to which every page leads."""

import pytest

from tests.support import database, indexing


@pytest.fixture
def url(postgres, indexed_template):
    """An index of which no indexer reports anything by itself."""
    with postgres.cloned(indexed_template) as url:
        database.execute(url, "DELETE FROM indexer_status")
        yield url


def page_after(url, *reports):
    """The page once an indexer has reported a problem, or "" for none."""
    for problem in reports:
        database.execute(
            url,
            "INSERT INTO indexer_status (problem, checked_at, node_head)"
            " VALUES (nullif(%s, ''), now(), (SELECT max(number) FROM blocks))",
            problem,
        )
    return indexing.client_over(url).get("/status").text


def test_every_page_leads_to_the_state_of_the_index(client):
    state = client.get("/readyz").json
    page = client.get("/status").text
    assert f'href="/block/{state["indexedBlock"]}"' in page
    assert f"<dd>{state['chainId']}</dd>" in page and f"<dd>{state['version']}</dd>" in page
    assert '<a class="json" href="/readyz">' in page
    for path in ("/", "/txs", "/nothing", "/status"):
        shown = client.get(path, headers={"Accept": "text/html"}).text
        assert '<a href="/status">Status</a>' in shown, path


def test_the_page_says_that_no_indexer_has_reported(url):
    assert "The indexer has not reported yet." in page_after(url)


def test_the_page_says_that_the_index_is_up_to_date(url):
    assert "The index is up to date with the node." in page_after(url, "")


def test_the_page_names_what_is_wrong(url):
    page = page_after(url, "no <b>node")
    assert '<p class="problem">no &lt;b&gt;node</p>' in page
    assert "New blocks may not be indexed until this ends." in page
