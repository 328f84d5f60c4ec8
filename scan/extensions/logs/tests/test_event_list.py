"""The page of events of all contracts."""

import re

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
    assert page.count('<article class="event"') == len(own)


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
