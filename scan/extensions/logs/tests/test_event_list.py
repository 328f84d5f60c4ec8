"""The page of events of all contracts."""

from tests.support.indexing import Indexing


def test_a_block_counts_its_events_where_all_are_stored(client, scenario, database_url):
    [number, *_] = [row["blockNumber"] for row in scenario.truth.logs]
    count = sum(row["blockNumber"] == number for row in scenario.truth.logs)
    link = f'href="/events?blockFrom={number}&amp;blockTo={number}">'
    assert "logCount" not in client.get(f"/api/v1/blocks/{number}").json
    assert f"{link}Read from the node</a>" in client.get(f"/block/{number}").text
    indexing = Indexing(database_url, scenario.anvil.url, logs="all")
    own = indexing.run_until(scenario.anvil.head()).client()
    assert own.get(f"/api/v1/blocks/{number}").json["logCount"] == count
    assert f"{link}{count}</a>" in own.get(f"/block/{number}").text
    assert own.get("/api/v1/blocks/0").json["logCount"] == 0
