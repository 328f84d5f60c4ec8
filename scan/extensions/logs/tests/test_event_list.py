"""The page of events of all contracts."""

import re

import pytest

from tests.support import page_checks
from tests.support.indexing import Indexing


def test_a_block_leads_to_its_events_and_these_to_their_transactions(client, scenario):
    [number, *_] = [row["blockNumber"] for row in scenario.truth.logs]
    own = [row for row in scenario.truth.logs if row["blockNumber"] == number]
    page = client.get(f"/block/{number}").text
    assert f'href="/events?blockFrom={number}&amp;blockTo={number}"' in page
    page = client.get(f"/events?blockFrom={number}&blockTo={number}&limit=100").text
    for row in own:
        sent, index = row["transactionHash"], row["logIndex"]
        assert f'id="log-{number}-{index}"' in page
        assert f'href="/tx/{sent}?tab=events#event-{index}"' in page
        assert f'id="event-{index}"' in client.get(f"/tx/{sent}?tab=events").text
        assert f'href="/address/{row["address"]}"' in page
    assert page.count('<tr id="log-') == len(own)


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "most"), [(1280, 64), (360, 120)])
def test_events_are_rows_of_few_lines_that_open(page, over_http, width, most):
    page_checks.show_at(page, width)
    page.open(f"{over_http}/events")
    heights = page.evaluate("[...document.querySelectorAll('tbody tr')].map(r => r.offsetHeight)")
    assert len(heights) == 25
    assert max(heights) <= most
    lines = "[...document.querySelectorAll('td.opens summary')].map(e => e.offsetHeight)"
    assert max(page.evaluate(lines)) < 40
    assert page.evaluate(page_checks.TABLES_FIT)
    page.click("td.opens summary")
    page.wait("document.querySelector('td.opens dl').checkVisibility()")
    assert page.evaluate(page_checks.TABLES_FIT)
    assert page_checks.all_violations(page) == []


def test_a_block_counts_its_events_where_all_are_stored(client, scenario, postgres, template):
    [number, *_] = [row["blockNumber"] for row in scenario.truth.logs]
    count = sum(row["blockNumber"] == number for row in scenario.truth.logs)
    link = f'href="/events?blockFrom={number}&amp;blockTo={number}">'
    assert "logCount" not in client.get(f"/api/v1/blocks/{number}").json
    assert f"{link}Read from the node</a>" in client.get(f"/block/{number}").text
    with postgres.cloned(template) as url:
        indexing = Indexing(url, scenario.anvil.url, logs="all")
        indexing.run_until(scenario.anvil.head())
        own = indexing.client()
        assert own.get(f"/api/v1/blocks/{number}").json["logCount"] == count
        assert f"{link}{count}</a>" in own.get(f"/block/{number}").text
        assert own.get("/api/v1/blocks/0").json["logCount"] == 0
        assert "format=csv" not in client.get("/events").text
        [link] = re.findall(r'href="(/api/v1/logs\?format=csv)"', own.get("/events").text)
        assert own.get(link).status_code == 200
